//! Figures of many values in little memory: exact frequent values, logarithmic buckets, counts over time, samples.

mod buckets;
mod counts;
mod gaps;
mod kinds;
mod relays;
mod sparse;
mod values;

pub(crate) use buckets::Buckets;
pub(crate) use counts::{CountsOverTime, Tally};
pub(crate) use gaps::{GapSample, GapSamples};
pub(crate) use kinds::{Kind, Kinds, Mix};
pub(crate) use relays::{Relayed, Turns};
pub(crate) use sparse::Sparse;
pub(crate) use values::Values;
