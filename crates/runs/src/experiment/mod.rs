//! Experiments: which arms are compared how, and what came out.

mod expectation;
mod metric;
mod result;

pub use expectation::KnownExpectation;
pub use metric::RunMetric;
pub use result::{
    ArmFacts, Comparison, ComparisonRole, Difference, DroppedRound, ExperimentResult,
    FORMAT_VERSION, Goal, KnownResult, Level, MetricFacts, MetricRole, RunOfArm, Verdict,
};
