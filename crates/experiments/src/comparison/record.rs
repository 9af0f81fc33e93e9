//! A comparison as JSON: every function whose share changed.

use rabbitscope_analysis::{Change, Evidence, Sides, share};
use rabbitscope_profiles::FrameKind;
use rabbitscope_web::CostOfMessages;
use serde::Serialize;

use super::Comparison;

/// The change of one function.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ChangeRecord<'a> {
    function: &'a str,
    kind: FrameKind,
    /// The shares that changed beyond noise: `own`, `total`, both or none.
    moved: Vec<&'static str>,
    own: Share,
    total: Share,
    /// Present if both sides are runs with known rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
}

/// A share on both sides, 0 to 1 of the whole profile.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Share {
    before: f64,
    after: f64,
    change: f64,
    beyond_noise: bool,
}

/// The cost per message.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Cost {
    unit: &'static str,
    /// `published`, `answered` or `consumed`.
    message: &'static str,
    own: CostOnBothSides,
    total: CostOnBothSides,
}

#[derive(Serialize)]
struct CostOnBothSides {
    before: f64,
    after: f64,
}

impl Comparison {
    /// Returns every function whose share changed, the greatest change first.
    pub fn changes(&self) -> Vec<ChangeRecord<'_>> {
        let changed = self
            .diff
            .changes
            .iter()
            .filter(|change| change.own_change.abs() > 0.0 || change.total_change.abs() > 0.0);
        changed.map(|change| self.record(change)).collect()
    }

    fn record<'a>(&self, change: &'a Change) -> ChangeRecord<'a> {
        let totals = self.diff.totals;
        let share = |sides, evidence| Share::new(sides, totals, evidence);
        ChangeRecord {
            function: &change.name,
            kind: change.kind,
            moved: moved(change),
            own: share(change.own, change.own_evidence),
            total: share(change.total, change.total_evidence),
            cost: self.cost.as_ref().map(|cost| Cost::new(cost, change)),
        }
    }
}

/// Returns the names of the shares that changed beyond noise.
fn moved(change: &Change) -> Vec<&'static str> {
    let shares = [("own", change.own_evidence), ("total", change.total_evidence)];
    let beyond = shares.into_iter().filter(|&(_, evidence)| evidence == Evidence::BeyondNoise);
    beyond.map(|(name, _)| name).collect()
}

impl Share {
    fn new(sides: Sides, totals: Sides, evidence: Evidence) -> Self {
        Self {
            before: share(sides.before, totals.before),
            after: share(sides.after, totals.after),
            change: sides.change(totals),
            beyond_noise: evidence == Evidence::BeyondNoise,
        }
    }
}

impl Cost {
    fn new(cost: &CostOfMessages, change: &Change) -> Self {
        let sides = |weight| {
            let [before, after] = cost.for_each(weight);
            CostOnBothSides { before, after }
        };
        Self {
            unit: cost.unit,
            message: cost.what,
            own: sides(change.own),
            total: sides(change.total),
        }
    }
}
