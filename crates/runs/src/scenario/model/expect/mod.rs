//! Expectations.

mod bounds;
mod expectation;

pub use expectation::{
    COUNTS, Comparison, Expect, Expectation, LATENCIES, Limit, Metric, QUANTILES, RATES, TIMES,
};
