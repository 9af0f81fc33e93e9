//! Data that all parts of a run share: its inputs, and the flags and counters that end it.

mod run_context;
mod run_settings;

pub(crate) use run_context::RunContext;
pub(crate) use run_settings::{RunSettings, barrier_interval};
