//! The command line side of a run whose load several processes generate: its options, its refusals and its text.
//! `rabbitscope_fleet` has the protocol.

mod refusals;
mod settings;
mod text;

pub use refusals::check;
pub use settings::{FleetSettings, VIA_VARIABLE, bus};
pub(crate) use text::workers;
