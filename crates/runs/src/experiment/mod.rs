//! Experiments: the compared arms, the design of the comparison, and the result.
//!
//! [`parse()`] reads the experiment file with the strictness of scenarios, [`order_of_round`] draws the order of runs,
//! [`ExperimentResult`] is `experiment.json`.

mod design;
mod expectation;
mod explanation;
mod metric;
mod model;
mod order;
mod parse;
mod result;
mod sweep;
#[cfg(test)]
mod tests;
mod written;

pub use design::{CapacityDesign, Design, LiveDesign};
pub use expectation::KnownExpectation;
pub use explanation::{ArmLatency, FunctionChange, ProfileComparison};
pub use metric::{RunMetric, Side, unit_from_name};
pub use model::{Arm, Experiment, Known};
pub use order::{order_of_round, shuffled};
pub use parse::parse;
pub use result::{
    ArmFacts, Comparison, ComparisonRole, Difference, DroppedRound, ExperimentResult,
    FORMAT_VERSION, Goal, KnownResult, MetricFacts, MetricRole, RunOfArm, Slice, SweepAxis,
    Verdict,
};
