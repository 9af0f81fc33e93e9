//! The live view: the figures of the run on the whole terminal, a small curve beside each.
//!
//! It is drawn on standard error, so that results can still be piped. `q` or Ctrl-C ends the run early; a second
//! time, it ends the program. The terminal is restored however the view ends: the end of the run, an error, a panic.

mod figures;
mod screen;
mod view;

pub use screen::RunHeader;
pub use view::Live;
