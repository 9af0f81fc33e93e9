//! Two profiles against each other in the page's form: their figures, and the table of changes. The tree with the
//! weights of both is in [`columns`](crate::page::columns).

use rabbitscope_analysis::{
    Change, Evidence, MessageCounts, MessagesDuring, ProfileDiff, Sides, quality_sentence, worth,
};
use rabbitscope_profiles::{Capture, FrameClass, Profile, StackQuality};
use serde::Serialize;

use crate::page::{columns::Columns, noise::Noise, stacks::FrameNumbers};

/// Two profiles and their comparison.
#[derive(Clone, Copy, Debug)]
pub struct DiffReport<'a> {
    /// The comparison.
    pub diff: &'a ProfileDiff,
    /// The first profile.
    pub before: NamedProfile<'a>,
    /// The second profile.
    pub after: NamedProfile<'a>,
    /// The costs, if both profiles are of runs with known rates.
    pub cost: Option<CostOfMessages>,
}

/// The factors that turn weights into costs per message.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CostOfMessages {
    /// The kind of messages, such as `published`.
    pub what: &'static str,
    /// Unit of the costs: `nanoseconds`, `bytes` …
    pub unit: &'static str,
    /// Messages per second, on both sides.
    pub rates: [f64; 2],
    /// Cost per message of a unit of weight, on both sides.
    pub per_weight: [f64; 2],
}

impl CostOfMessages {
    /// Returns `None` if the two sides differ in the unit or the kind of messages.
    pub fn between(profiles: [&Profile; 2], messages: [MessagesDuring; 2]) -> Option<Self> {
        let MessageCounts { what, counts, rates } = MessageCounts::between(messages)?;
        let [(first, unit), (second, other)] = profiles.map(worth);
        let per_weight = [first / counts[0], second / counts[1]];
        (unit == other).then_some(Self { what, unit, rates, per_weight })
    }

    /// Returns the cost per message of a weight, before and after.
    pub fn for_each(&self, weight: Sides) -> [f64; 2] {
        let [before, after] = self.per_weight;
        [weight.before as f64 * before, weight.after as f64 * after]
    }
}

/// One of two profiles.
#[derive(Clone, Copy, Debug)]
pub struct NamedProfile<'a> {
    /// Name for people, such as the name of its file.
    pub name: &'a str,
    /// The profile.
    pub profile: &'a Profile,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct DiffData<'a> {
    event: &'a str,
    unit: &'a str,
    before: SideData<'a>,
    after: SideData<'a>,
    /// Names of the classes by number.
    kinds: [FrameClass; FrameClass::ALL.len()],
    changes: ChangeColumns,
    cost: Option<CostOfMessages>,
    noise: Noise,
}

#[derive(Serialize)]
struct SideData<'a> {
    name: &'a str,
    total: u64,
    capture: &'a Capture,
    quality: StackQuality,
    sentence: String,
}

impl<'a> SideData<'a> {
    fn new(side: NamedProfile<'a>) -> Self {
        let NamedProfile { name, profile } = side;
        Self {
            name,
            total: profile.total(),
            capture: &profile.capture,
            quality: profile.quality,
            sentence: quality_sentence(&profile.quality),
        }
    }
}

impl<'a> DiffData<'a> {
    /// Returns the data, and the columns beside it. Their `self` is the mean of both shares in an arbitrary unit: it only
    /// decides widths.
    pub(crate) fn new(report: DiffReport<'a>) -> (Self, Columns) {
        let diff = report.diff;
        let numbers = FrameNumbers::new(&diff.tree, &diff.frames);
        let before = diff.leaves.iter().map(|weight| weight.before).collect();
        let after = diff.leaves.iter().map(|weight| weight.after).collect();
        let tree = Columns::from_tree(&diff.tree, &diff.frames, &numbers);
        let data = Self {
            event: &diff.value,
            unit: &diff.unit,
            before: SideData::new(report.before),
            after: SideData::new(report.after),
            kinds: FrameClass::ALL,
            changes: ChangeColumns::new(&diff.changes, &numbers),
            cost: report.cost,
            noise: Noise::from_diff(diff, report.before.profile, report.after.profile),
        };
        (data, Columns { sides: Some([before, after]), ..tree })
    }
}

/// The rows of the table of changes, in the order of [`ProfileDiff::changes`]. Changes are of shares, −1 to 1.
#[derive(Default, Serialize)]
#[serde(rename_all = "kebab-case")]
struct ChangeColumns {
    frame: Vec<u32>,
    own_before: Vec<u64>,
    own_after: Vec<u64>,
    own_change: Vec<f64>,
    own_beyond_noise: Vec<bool>,
    total_before: Vec<u64>,
    total_after: Vec<u64>,
    total_change: Vec<f64>,
    total_beyond_noise: Vec<bool>,
}

impl ChangeColumns {
    fn new(changes: &[Change], numbers: &FrameNumbers) -> Self {
        let mut columns = Self::default();
        for change in changes {
            columns.frame.push(numbers.of(change.frame));
            columns.own_before.push(change.own.before);
            columns.own_after.push(change.own.after);
            columns.own_change.push(change.own_change);
            columns.own_beyond_noise.push(change.own_evidence == Evidence::BeyondNoise);
            columns.total_before.push(change.total.before);
            columns.total_after.push(change.total.after);
            columns.total_change.push(change.total_change);
            columns.total_beyond_noise.push(change.total_evidence == Evidence::BeyondNoise);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;
    use serde_json::json;

    use super::*;

    #[test]
    fn both_weights_stand_beside_each_other() {
        let read = |text: &str| read_folded(text.as_bytes()).unwrap();
        let (before, after) = (read("s;m:gone/0 25\ns;m:f/1 75"), read("s;m:f/1 40"));
        let diff = ProfileDiff::between(&before, &after).unwrap();
        let report = DiffReport {
            diff: &diff,
            before: NamedProfile { name: "a", profile: &before },
            after: NamedProfile { name: "b", profile: &after },
            cost: None,
        };
        let (data, columns) = DiffData::new(report);
        let json = serde_json::to_value(data).unwrap();
        assert_eq!(columns.names, ["s", "m:gone/0", "m:f/1"]);
        assert_eq!(columns.frames, [0, 2, 1]);
        assert_eq!(columns.sides, Some([vec![0, 75, 25], vec![0, 40, 0]]));
        assert_eq!(json["changes"]["own-change"][0], json!(0.25));
        assert_eq!(json["changes"]["frame"][1], json!(1));
        assert_eq!(json["after"]["total"], json!(40));
    }
}
