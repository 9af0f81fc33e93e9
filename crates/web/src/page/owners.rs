//! Owners and times of the samples in the page's form: owners in columns, and records with the weight of every stack by
//! owner and time.

use std::collections::{BTreeMap, HashMap};

use rabbitscope_analysis::{Dimension, NodeId};
use rabbitscope_profiles::{Identity, Profile, Times};
use serde::Serialize;

use crate::page::{
    columns::Record,
    labels::{LabelColumns, Labeller},
};

/// Maximum number of processes that are owners by themselves, the heaviest ones. The others of a role are one owner, so
/// that the page's size does not follow the number of processes.
const MAX_OWNERS: usize = 4_000;

/// Maximum number of points of time in the page. If there are more, the length of a step is doubled until they fit.
const MAX_POINTS: usize = 1_000_000;

/// The dimensions by which the page can group and filter.
const DIMENSIONS: [(Dimension, &str); 7] = [
    (Dimension::Role, "role"),
    (Dimension::Queue, "queue"),
    (Dimension::Client, "client"),
    (Dimension::Channel, "channel"),
    (Dimension::Connection, "connection"),
    (Dimension::Vhost, "vhost"),
    (Dimension::Process, "process"),
];

#[derive(Serialize)]
pub(crate) struct OwnersData {
    /// Number of processes of each owner. Owner 0 is no process.
    processes: Vec<usize>,
    dimensions: Vec<DimensionColumn>,
    /// Length of a step of time in nanoseconds, 0 if there are no times.
    #[serde(rename = "step-nanos")]
    step_nanos: u64,
    /// Weight by step.
    steps: Vec<u64>,
    labels: LabelColumns,
    /// Records have a count besides a weight of a different kind.
    counted: bool,
}

/// The owners by one dimension.
#[derive(Serialize)]
struct DimensionColumn {
    name: &'static str,
    labels: Vec<String>,
    /// Number of each owner's label; −1 for none.
    of: Vec<i32>,
}

impl OwnersData {
    /// Builds the data, and the records beside it. `leaves` has the last node of each sample.
    pub(crate) fn new(profile: &Profile, leaves: &[Option<NodeId>]) -> (Self, Vec<Record>) {
        let owners = Owners::from_profile(profile);
        let scale = scale_of(profile);
        let mut labels = LabelColumns::default();
        let records = records(profile, leaves, &owners, &mut labels, scale);
        let data = Self {
            dimensions: DIMENSIONS.iter().map(|&(by, name)| owners.column(by, name)).collect(),
            processes: owners.list.iter().map(|owner| owner.processes).collect(),
            step_nanos: profile.capture.time_step_nanos << scale,
            steps: steps(profile, scale),
            labels,
            counted: profile.event.is_weighted(),
        };
        (data, records)
    }
}

/// One process, or the rest of a role, or none.
struct Owner<'a> {
    pid: Option<&'a str>,
    known: Option<Identity>,
    processes: usize,
}

struct Owners<'a> {
    list: Vec<Owner<'a>>,
    by_pid: HashMap<&'a str, u32>,
}

impl<'a> Owners<'a> {
    fn from_profile(profile: &'a Profile) -> Self {
        let mut weights: HashMap<&str, u64> = HashMap::new();
        for sample in &profile.samples {
            if let Some(pid) = &sample.labels.process {
                *weights.entry(pid).or_default() += sample.weight;
            }
        }
        let mut heaviest: Vec<(&str, u64)> = weights.into_iter().collect();
        heaviest.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
        let none = Owner { pid: None, known: None, processes: 0 };
        let mut owners = Self { list: vec![none], by_pid: HashMap::new() };
        let mut rest: BTreeMap<Option<&str>, u32> = BTreeMap::new();
        for (rank, (pid, _)) in heaviest.into_iter().enumerate() {
            let known = profile.identities.get(pid);
            let number = if rank < MAX_OWNERS {
                owners.add(Owner { pid: Some(pid), known: known.cloned(), processes: 1 })
            } else {
                let role = known.map(|identity| identity.role.as_str());
                *rest.entry(role).or_insert_with(|| {
                    let only_role =
                        role.map(|role| Identity { role: role.into(), ..Identity::default() });
                    owners.add(Owner { pid: None, known: only_role, processes: 0 })
                })
            };
            if rank >= MAX_OWNERS {
                owners.list[number as usize].processes += 1;
            }
            owners.by_pid.insert(pid, number);
        }
        owners
    }

    fn add(&mut self, owner: Owner<'a>) -> u32 {
        self.list.push(owner);
        u32::try_from(self.list.len() - 1).expect("some thousand owners")
    }

    fn number(&self, pid: Option<&str>) -> u32 {
        pid.and_then(|pid| self.by_pid.get(pid)).copied().unwrap_or(0)
    }

    fn column(&self, by: Dimension, name: &'static str) -> DimensionColumn {
        let mut column = DimensionColumn { name, labels: Vec::new(), of: Vec::new() };
        let mut numbers: HashMap<String, i32> = HashMap::new();
        for owner in &self.list {
            let label = owner.label(by);
            column.of.push(label.map_or(-1, |label| {
                *numbers.entry(label).or_insert_with_key(|label| {
                    column.labels.push(label.clone());
                    i32::try_from(column.labels.len() - 1).expect("some thousand owners")
                })
            }));
        }
        column
    }
}

impl Owner<'_> {
    fn label(&self, by: Dimension) -> Option<String> {
        if by == Dimension::Process {
            return self.process_label();
        }
        let (name, vhost) = by.owner("", self.known.as_ref())?;
        let is_usual = vhost.is_empty() || vhost == "/";
        Some(if is_usual { name.to_owned() } else { format!("{name} ({vhost})") })
    }

    fn process_label(&self) -> Option<String> {
        let Identity { role, name, .. } = self.known.clone().unwrap_or_default();
        match self.pid {
            Some(pid) => Some([pid, &role, &name].join(" ").trim_end().to_owned()),
            None if self.processes > 0 => {
                let role = if role.is_empty() { "unknown" } else { role.as_str() };
                Some(format!("{} other processes of role {role}", self.processes))
            }
            None => None,
        }
    }
}

/// Returns the number of times that the length of a step is doubled.
fn scale_of(profile: &Profile) -> u32 {
    let points_at = |scale: u32| -> usize {
        profile.samples.iter().map(|sample| coarser(&sample.times, scale).len()).sum()
    };
    // There is at least one point for each step and stack, so this ends.
    (0..16).find(|&scale| points_at(scale) <= MAX_POINTS).unwrap_or(16)
}

/// Returns the times with steps that are 2^`scale` times as long, equal ones added up.
fn coarser(times: &Times, scale: u32) -> Vec<(u32, u64)> {
    let mut points: Vec<(u32, u64)> = Vec::new();
    for (step, weight) in times.iter() {
        match points.last_mut() {
            Some((last, sum)) if *last == step >> scale => *sum += weight,
            _ => points.push((step >> scale, weight)),
        }
    }
    points
}

/// No recording on a page has more; times from a file cannot be trusted.
const MAX_STEPS: usize = 1_000_000;

fn steps(profile: &Profile, scale: u32) -> Vec<u64> {
    let mut steps = Vec::new();
    for (step, weight) in profile.samples.iter().flat_map(|sample| sample.times.iter()) {
        let at = (step >> scale) as usize;
        if at >= MAX_STEPS {
            continue;
        }
        if at >= steps.len() {
            steps.resize(at + 1, 0);
        }
        steps[at] += weight;
    }
    steps
}

/// Weight, occurrences, and weight by step.
type Sum = (u64, u64, BTreeMap<u32, u64>);

/// Sums up the samples by node, owner and label.
fn records(
    profile: &Profile,
    leaves: &[Option<NodeId>],
    owners: &Owners<'_>,
    labels: &mut LabelColumns,
    scale: u32,
) -> Vec<Record> {
    let mut labeller = Labeller::new(profile);
    let mut sums: BTreeMap<(NodeId, u32, u32), Sum> = BTreeMap::new();
    for (sample, leaf) in profile.samples.iter().zip(leaves) {
        let Some(leaf) = *leaf else { continue };
        let owner = owners.number(sample.labels.process.as_deref());
        let label = labeller.number(sample, labels);
        let (weight, count, points) = sums.entry((leaf, owner, label)).or_default();
        *weight += sample.weight;
        *count += sample.count;
        for (step, part) in coarser(&sample.times, scale) {
            *points.entry(step).or_default() += part;
        }
    }
    let records =
        sums.into_iter().map(|((NodeId(node), owner, label), (weight, count, points))| Record {
            node,
            owner,
            label,
            weight,
            count,
            points: points.into_iter().collect(),
        });
    records.collect()
}
