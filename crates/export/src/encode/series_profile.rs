//! A profile whose samples only have labels that a series may have: role, queue, virtual host. Processes and threads
//! are removed, so stacks that differ only in these are merged.

use std::{collections::HashMap, sync::Arc};

use rabbitscope_profiles::{Identity, LabelledStack, Profile, Sample, StackEntry, StackOutcome};
use rustc_hash::FxHashMap;

use super::{QueueKey, QueueRanking};

/// Pyroscope's default limit of samples in a profile.
const MAX_SAMPLES: usize = 16_000;

/// Limit of roles of a node; the agent knows about thirty.
const MAX_ROLES: usize = 60;

/// Label of all queues and roles without a name of their own.
pub(crate) const OTHER: &str = "other";

/// The role of samples without an Erlang process.
const NO_PROCESS: &str = "no-process";

/// The role of a process whose purpose is unknown.
const UNKNOWN: &str = "unknown";

/// Merged stacks of a window, with the labels of a series.
#[derive(Debug)]
pub(crate) struct SeriesProfile<'a> {
    pub(crate) profile: &'a Profile,
    stacks: Vec<Stack<'a>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Stack<'a> {
    /// Entries, root first.
    pub(crate) entries: &'a [StackEntry],
    pub(crate) labels: SeriesLabels<'a>,
    pub(crate) count: u64,
    pub(crate) weight: u64,
}

/// Labels of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SeriesLabels<'a> {
    pub(crate) role: &'a str,
    /// Virtual host and name of a named queue; [`OTHER`] for other queues.
    pub(crate) queue: Option<(&'a str, &'a str)>,
}

impl<'a> SeriesLabels<'a> {
    /// Returns keys and values.
    pub(crate) fn pairs(self) -> Vec<(&'static str, &'a str)> {
        let mut pairs = vec![("role", self.role)];
        if let Some((vhost, name)) = self.queue {
            pairs.push(("queue", name));
            pairs.extend((!vhost.is_empty()).then_some(("vhost", vhost)));
        }
        pairs
    }
}

impl<'a> SeriesProfile<'a> {
    /// Merges the stacks of a profile, after adding the window's weights to the ranking.
    pub(crate) fn from_profile(profile: &'a Profile, ranking: &mut QueueRanking) -> Self {
        ranking.add_window(&queue_weights(profile));
        let mut merged: FxHashMap<(&[StackEntry], SeriesLabels<'_>), (u64, u64)> =
            FxHashMap::default();
        let mut roles: Vec<&str> = Vec::new();
        for sample in &profile.samples {
            let labels = labels(sample, profile, ranking, &mut roles);
            let (count, weight) = merged.entry((&sample.stack, labels)).or_default();
            *count += sample.count;
            *weight += sample.weight;
        }
        let stacks = merged.into_iter().map(|((entries, labels), (count, weight))| Stack {
            entries,
            labels,
            count,
            weight,
        });
        let mut stacks: Vec<Stack<'a>> = stacks.collect();
        // Sorted, so that the same window gives the same bytes in spite of the map's order.
        stacks.sort_unstable_by(|a, b| {
            b.weight.cmp(&a.weight).then_with(|| (a.entries, a.labels).cmp(&(b.entries, b.labels)))
        });
        Self { profile, stacks: at_most(stacks, MAX_SAMPLES) }
    }

    pub(crate) fn stacks(&self) -> &[Stack<'a>] {
        &self.stacks
    }

    /// Returns the stacks for pprof.
    pub(crate) fn labelled(&self) -> impl Iterator<Item = LabelledStack<'a>> {
        self.stacks.iter().map(|stack| LabelledStack {
            stack: stack.entries,
            labels: stack.labels.pairs(),
            count: stack.count,
            weight: stack.weight,
        })
    }

    /// Returns the total weight of each set of labels.
    pub(crate) fn weights(&self) -> FxHashMap<SeriesLabels<'a>, u64> {
        let mut weights = FxHashMap::default();
        for stack in &self.stacks {
            *weights.entry(stack.labels).or_default() += stack.weight;
        }
        weights
    }
}

/// Cuts the lightest stacks to their root if there are too many. No weight is lost.
fn at_most(mut stacks: Vec<Stack<'_>>, most: usize) -> Vec<Stack<'_>> {
    if stacks.len() <= most {
        return stacks;
    }
    // The roots of cut stacks take places as well, at most some hundred.
    let cut = stacks.split_off(most - most / 16);
    let mut roots: FxHashMap<(&[StackEntry], SeriesLabels<'_>), (u64, u64)> = FxHashMap::default();
    for stack in cut {
        let key = (&stack.entries[..1], stack.labels);
        let (count, weight) = roots.entry(key).or_default();
        *count += stack.count;
        *weight += stack.weight;
    }
    let roots = roots.into_iter().map(|((entries, labels), (count, weight))| Stack {
        entries,
        labels,
        count,
        weight,
    });
    stacks.extend(roots);
    stacks
}

fn identity<'a>(sample: &Sample, profile: &'a Profile) -> Option<&'a Identity> {
    sample.labels.process.as_ref().and_then(|process| profile.identities.get(&**process))
}

fn queue_weights(profile: &Profile) -> HashMap<QueueKey, u64> {
    let mut weights = HashMap::new();
    let mut by_process: FxHashMap<&str, u64> = FxHashMap::default();
    for sample in &profile.samples {
        if let Some(process) = &sample.labels.process {
            *by_process.entry(process).or_default() += sample.weight;
        }
    }
    for (process, weight) in by_process {
        if let Some(identity) =
            profile.identities.get(process).filter(|identity| identity.is_queue())
        {
            *weights.entry(key(identity)).or_default() += weight;
        }
    }
    weights
}

fn key(identity: &Identity) -> QueueKey {
    QueueKey { vhost: Arc::from(&*identity.vhost), name: Arc::from(&*identity.name) }
}

fn labels<'a>(
    sample: &Sample,
    profile: &'a Profile,
    ranking: &QueueRanking,
    roles: &mut Vec<&'a str>,
) -> SeriesLabels<'a> {
    let has_process = sample.labels.process.is_some() || sample.labels.outcome.is_on_process();
    let Some(identity) = identity(sample, profile) else {
        let is_idle = sample.labels.outcome == StackOutcome::NoProcess || !has_process;
        return SeriesLabels { role: if is_idle { NO_PROCESS } else { UNKNOWN }, queue: None };
    };
    let role = identity.role.as_str();
    if !roles.contains(&role) && roles.len() < MAX_ROLES {
        roles.push(role);
    }
    let role = match role {
        "" => UNKNOWN,
        role if roles.contains(&role) => role,
        _ => OTHER,
    };
    let queue = identity.is_queue().then(|| {
        let is_named = ranking.is_named(&key(identity));
        if is_named { (identity.vhost.as_str(), identity.name.as_str()) } else { ("", OTHER) }
    });
    SeriesLabels { role, queue }
}

#[cfg(test)]
pub(crate) mod tests {
    use rabbitscope_profiles::{
        Capture, Event, Frame, FrameKind, FrameTable, Labels, Mode, StackQuality, Times,
    };

    use super::*;

    /// A profile with a sample of this weight for each queue, and one sample of weight 7 without a process.
    pub(crate) fn profile(queues: &[(&str, u64)]) -> Profile {
        let mut frames = FrameTable::default();
        let mut stack = |names: [(&str, FrameKind); 2]| {
            let entries = names.map(|(name, kind)| StackEntry {
                frame: frames.intern(Frame { name: name.to_owned(), kind }),
                repeat: 1,
            });
            entries.to_vec()
        };
        let root = ("scheduler", FrameKind::Thread);
        let work = stack([root, ("queue:work/1", FrameKind::Erlang)]);
        let wait = stack([root, ("poll", FrameKind::Kernel)]);
        let labels = |process: Option<String>, outcome| Labels {
            process: process.map(Into::into),
            thread: "1_scheduler".into(),
            mode: Mode::User,
            outcome,
        };
        let sample = |stack: &[StackEntry], labels, weight| Sample {
            stack: stack.to_vec(),
            labels,
            weight,
            count: weight,
            times: Times::default(),
        };
        let mut samples = vec![sample(&wait, labels(None, StackOutcome::NoProcess), 7)];
        let mut identities = rabbitscope_profiles::Identities::new();
        for (index, (name, weight)) in queues.iter().enumerate() {
            let process = format!("<0.{index}.0>");
            let (role, vhost) = ("queue".to_owned(), "/".to_owned());
            let identity =
                Identity { role, name: (*name).to_owned(), vhost, ..Identity::default() };
            identities.insert(process.clone(), identity);
            samples.push(sample(&work, labels(Some(process), StackOutcome::Complete), *weight));
        }
        let capture = Capture {
            started_unix_nanos: 1_700_000_000_000_000_000,
            duration_nanos: 10_000_000_000,
            period_nanos: 10_000_000,
            ..Capture::default()
        };
        Profile {
            event: Event::Cpu,
            capture,
            quality: StackQuality::default(),
            frames,
            samples,
            identities,
            lines: Vec::new(),
        }
    }

    #[test]
    fn queues_are_bounded_and_no_weight_is_lost() {
        let names: Vec<String> = (0..500).map(|n| format!("q{n:03}")).collect();
        let queues: Vec<(&str, u64)> =
            names.iter().zip(1..).map(|(name, weight)| (name.as_str(), weight)).collect();
        let profile = profile(&queues);
        let series = SeriesProfile::from_profile(&profile, &mut QueueRanking::default());
        assert_eq!(series.stacks().len(), 22, "20 queues, the others, no process");
        let total: u64 = series.stacks().iter().map(|stack| stack.weight).sum();
        assert_eq!(total, profile.total());
        let heaviest: Vec<_> = series
            .stacks()
            .iter()
            .filter_map(|stack| stack.labels.queue)
            .map(|queue| queue.1)
            .collect();
        assert_eq!(heaviest[..2], [OTHER, "q499"]);
        let labels = series.stacks().last().unwrap().labels.pairs();
        assert_eq!(labels, [("role", NO_PROCESS)]);
    }

    #[test]
    fn too_many_stacks_are_cut_to_their_roots() {
        let profile = profile(&[("a", 5), ("b", 3), ("c", 1), ("d", 1)]);
        let series = SeriesProfile::from_profile(&profile, &mut QueueRanking::default());
        let mut many = Vec::new();
        for _ in 0..100 {
            many.extend(series.stacks().iter().cloned());
        }
        let before: u64 = many.iter().map(|stack| stack.weight).sum();
        let cut = at_most(many, 160);
        assert!(cut.len() <= 160, "{}", cut.len());
        assert_eq!(cut.iter().map(|stack| stack.weight).sum::<u64>(), before);
    }
}
