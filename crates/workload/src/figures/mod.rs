//! Figures of many values in little memory: exact frequent values, logarithmic buckets, counts over time, samples.

mod buckets;
mod counts;
mod gaps;
mod values;

pub(crate) use buckets::Buckets;
pub(crate) use counts::CountsOverTime;
pub(crate) use gaps::{GapSample, GapSamples};
pub(crate) use values::Values;
