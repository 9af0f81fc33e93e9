//! A run whose load several processes put on: what was typed about them, and what is said of them. The protocol is
//! `rabbitscope_fleet`.

mod refusals;
mod settings;
mod text;

pub(crate) use refusals::check;
pub(crate) use settings::{FleetArgs, FleetSettings, VIA_VARIABLE, bus};
pub(crate) use text::workers;
