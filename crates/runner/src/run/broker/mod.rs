//! The broker under load, and the declarations of a run on it.

mod declared;
mod found;
mod target;

pub(super) use declared::DeclaredSession;
pub use target::{EarlierRuns, Target, dialer, sweep_dead_brokers};
