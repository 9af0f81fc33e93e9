//! Experiments: which arms are compared how, and what came out.

mod result;

pub use result::{
    ArmFacts, Comparison, ComparisonRole, Difference, DroppedRound, ExperimentResult,
    FORMAT_VERSION, Goal, KnownResult, Level, MetricFacts, MetricRole, RunOfArm, Verdict,
};
