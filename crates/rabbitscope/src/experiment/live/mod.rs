//! Arms that take turns on a running broker: what differs between them is code, which is switched.
//!
//! ```text
//! rounds ─► turns, each of some seconds ─► one run; at the start of a turn the arm's code is loaded ─► runs of arms
//! ```
//!
//! The first second of a turn is left out, in which the code is loaded.

mod conduct;
mod switcher;
mod turns;

pub(super) use conduct::run;
