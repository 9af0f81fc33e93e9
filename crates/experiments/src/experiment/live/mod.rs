//! Arms that take turns on a running broker. They differ in code only, which is switched.
//!
//! ```text
//! rounds ─► turns, each of some seconds ─► one run; at the start of a turn the arm's code is loaded ─► runs of arms
//! ```
//!
//! The first second of each turn does not count, because the code is loaded in it.

mod conduct;
mod switcher;
mod turns;

pub(super) use conduct::run;
