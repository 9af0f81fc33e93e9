//! The owners of a profile's samples and the activities of the node, in a few lines. The shares of each table add up to
//! the whole.

use std::fmt::{self, Write as _};

use rabbitscope_analysis::{
    Activity, Dimension, FunctionRow, Holder, OwnerShare, holders, owner_shares, share,
};
use rabbitscope_profiles::{Event, Profile};
use serde::Serialize;

use rabbitscope_text::escapes;

/// Number of lines in each table.
const FIRST: usize = 5;

/// A function with its shares of all samples of the node, or of its blocked time, 0 to 1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct HotFunction {
    function: String,
    own_share: f64,
    total_share: f64,
}

impl HotFunction {
    pub(super) fn new(row: FunctionRow, whole: u64) -> Self {
        let (own_share, total_share) = (row.own_share(whole), row.total_share(whole));
        Self { function: row.name, own_share, total_share }
    }
}

/// The share of an activity that ran for no Erlang function.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct HeldShare {
    holder: Holder,
    share: f64,
}

pub(super) fn held(profile: &Profile) -> Vec<HeldShare> {
    let whole = profile.total();
    let row = |(holder, weight)| HeldShare { holder, share: share(weight, whole) };
    holders(profile).into_iter().map(row).collect()
}

/// Returns the rows of both by share, and last the share of other functions.
pub(super) fn ranked(functions: &[HotFunction], held: &[HeldShare]) -> String {
    let functions = functions.iter().map(|hot| (hot.own_share, hot.function.clone()));
    let held = held.iter().map(|row| (row.share, format!("[{}]", row.holder.words())));
    let mut rows: Vec<_> = functions.chain(held).collect();
    rows.sort_by(|left, right| right.0.total_cmp(&left.0));
    let rest = 1.0 - rows.iter().map(|row| row.0).sum::<f64>();
    rows.push((rest, "other Erlang functions".to_owned()));
    let mut text = String::new();
    for (share, name) in rows.into_iter().filter(|row| row.0 >= LEAST_SHARE) {
        let _ = writeln!(text, "{}", share_line(share, &name));
    }
    text
}

/// Smaller shares would be displayed as zero.
const LEAST_SHARE: f64 = 0.0005;

fn share_line(share: f64, name: &str) -> String {
    format!("{:>6.1} %  {}", 100.0 * share, escapes::value(name))
}

/// Describes busy cores, garbage collection and locks, and the source of these shares.
pub(super) fn busy(activity: &Activity, event: Event) -> String {
    let cores = match (activity.busy_cores, activity.cores) {
        (Some(busy), Some(cores)) => format!("{busy:.2} of {cores} cores busy; "),
        (Some(busy), None) => format!("{busy:.2} cores busy; "),
        (None, _) => String::new(),
    };
    let of = if event == Event::Cpu { String::new() } else { format!(" of {}", event.unit()) };
    format!(
        "{cores}garbage collection {:.1} %, locks {:.1} %{of} (stacks with such a function of the VM)",
        100.0 * activity.garbage_collection_share,
        100.0 * activity.locks_share,
    )
}

/// The owners with the largest shares. Empty if the node was not asked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Owners {
    roles: Vec<Owner>,
    queues: Vec<Owner>,
    channels: Vec<Owner>,
    connections: Vec<Owner>,
    rest: Vec<Rest>,
}

/// The remainder of a dimension's table, so that its shares add up to 1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Rest {
    of: &'static str,
    /// Number of owners with smaller shares.
    others: usize,
    others_share: f64,
    /// The share of samples without an owner of this dimension.
    none_share: f64,
}

/// An owner with its share of all samples of the node, 0 to 1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Owner {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    vhost: String,
    share: f64,
    processes: usize,
}

impl Owners {
    pub(super) fn from_profile(profile: &Profile) -> Self {
        let mut rest = Vec::new();
        let mut first = |dimension, of| {
            let shares = owner_shares(profile, dimension);
            rest.push(Rest::new(of, &shares, profile.total()));
            let owner = |row: OwnerShare| Owner {
                share: share(row.weight, profile.total()),
                name: row.name,
                vhost: row.vhost,
                processes: row.processes,
            };
            shares.into_iter().take(FIRST).map(owner).collect()
        };
        Self {
            roles: first(Dimension::Role, "roles"),
            queues: first(Dimension::Queue, "queues"),
            channels: first(Dimension::Channel, "channels"),
            connections: first(Dimension::Connection, "connections"),
            rest,
        }
    }
}

impl Rest {
    fn new(of: &'static str, shares: &[OwnerShare], whole: u64) -> Self {
        let sum = |shares: &[OwnerShare]| shares.iter().map(|row| row.weight).sum::<u64>();
        let others = shares.get(FIRST..).unwrap_or_default();
        Self {
            of,
            others: others.len(),
            others_share: share(sum(others), whole),
            none_share: share(whole.saturating_sub(sum(shares)), whole),
        }
    }
}

impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.others > 0 {
            let others = format!("{} other {}", self.others, self.of);
            writeln!(f, "{}", share_line(self.others_share, &others))?;
        }
        if self.none_share >= LEAST_SHARE {
            writeln!(f, "{}", share_line(self.none_share, &format!("none of the {}", self.of)))?;
        }
        Ok(())
    }
}

impl fmt::Display for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = [
            ("Roles of processes", &self.roles),
            ("Queues", &self.queues),
            ("Channels", &self.channels),
        ];
        let tables = tables.into_iter().zip(&self.rest);
        for ((title, owners), rest) in tables.filter(|((_, owners), _)| !owners.is_empty()) {
            writeln!(f, "\n{title}")?;
            for owner in owners {
                writeln!(f, "{}", line(owner))?;
            }
            write!(f, "{rest}")?;
        }
        Ok(())
    }
}

fn line(owner: &Owner) -> String {
    let mut line = share_line(owner.share, &owner.name);
    if !owner.vhost.is_empty() && owner.vhost != "/" {
        let _ = write!(line, "  in {}", escapes::value(&owner.vhost));
    }
    if owner.processes > 1 {
        let _ = write!(line, "  ({} processes)", owner.processes);
    }
    line
}

#[cfg(test)]
mod tests {
    use rabbitscope_analysis::hottest;
    use rabbitscope_profiles::{Identity, read_folded};

    use super::*;

    fn sum_of(lines: &str) -> f64 {
        let shares =
            lines.lines().filter_map(|line| line.split_once(" %")?.0.trim().parse::<f64>().ok());
        shares.sum::<f64>()
    }

    #[test]
    fn shares_of_a_list_add_up() {
        let stacks: Vec<_> =
            (0..20).map(|number| format!("scheduler;m:f{number}/1 10\n")).collect();
        let stacks =
            format!("{}scheduler;erts_port_task_execute;x 700\npoll;y 100\n", stacks.concat());
        let profile = read_folded(stacks.as_bytes()).unwrap();
        let whole = profile.total();
        let hot: Vec<_> =
            hottest(&profile, 10).into_iter().map(|row| HotFunction::new(row, whole)).collect();
        let lines = ranked(&hot, &held(&profile));
        assert!(lines.starts_with("  70.0 %  [port tasks"), "{lines}");
        assert!(lines.ends_with("  10.0 %  other Erlang functions\n"), "{lines}");
        assert!((sum_of(&lines) - 100.0).abs() < 0.5, "{lines}");
    }

    #[test]
    fn shares_of_queues_add_up() {
        let stacks: Vec<_> = (0..8).map(|number| format!("m:f{number}/1 10\n")).collect();
        let mut profile = read_folded(stacks.concat().as_bytes()).unwrap();
        for (number, sample) in profile.samples.iter_mut().enumerate() {
            let pid = format!("<0.{number}.0>");
            sample.labels.process = Some(pid.as_str().into());
            let role = if number < 7 { "queue" } else { "writer" }.to_owned();
            let name = format!("q{number}");
            profile.identities.insert(pid, Identity { role, name, ..Identity::default() });
        }
        let text = Owners::from_profile(&profile).to_string();
        let queues = text.split("Queues\n").nth(1).unwrap().split("\n\n").next().unwrap();
        assert!(queues.contains("25.0 %  2 other queues"), "{text}");
        assert!(queues.contains("12.5 %  none of the queues"), "{text}");
        assert!((sum_of(queues) - 100.0).abs() < 0.5, "{text}");
    }

    #[test]
    fn busy_cores_are_said() {
        let profile =
            read_folded(&b"scheduler;m:f/1;erts_garbage_collect 3\nscheduler;m:g/1 1"[..]);
        let mut profile = profile.unwrap();
        profile.capture.period_nanos = 100;
        profile.capture.duration_nanos = 320;
        profile.capture.cpus = 2;
        let text = busy(&Activity::from_profile(&profile), Event::Cpu);
        assert!(text.starts_with("1.25 of 2 cores busy; garbage collection 75.0 %"), "{text}");
    }
}
