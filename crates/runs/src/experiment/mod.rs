//! Experiments: the compared arms, the design of the comparison, and the result.
//!
//! [`parse()`] reads the experiment file with the strictness of scenarios, [`order_of_round`] draws the order of runs,
//! [`ExperimentResult`] is `experiment.json`.

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
mod wire;

pub use expectation::KnownExpectation;
pub use explanation::{ArmLatency, FunctionChange, ProfileComparison};
pub use metric::{RunMetric, Side};
pub use model::{Arm, CapacityDesign, Design, Experiment, Known, LiveDesign};
pub use order::{order_of_round, shuffled};
pub use parse::parse;
pub use result::{
    ArmFacts, Comparison, ComparisonRole, Difference, DroppedRound, ExperimentResult,
    FORMAT_VERSION, Goal, KnownResult, MetricFacts, MetricRole, RunOfArm, Slice, SweepAxis,
    Verdict,
};
