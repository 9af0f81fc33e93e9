//! The broker under load, and what a run has declared there.

mod declared;
mod found;
mod target;

pub(super) use declared::DeclaredSession;
pub(crate) use target::{EarlierRuns, Target, dialer, sweep_dead_brokers};
