//! Expectations.

mod bounds;
mod expectation;

pub use expectation::{Comparison, Expect, Expectation, Limit};
