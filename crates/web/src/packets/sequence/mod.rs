//! Time-sequence graphs after Stevens and tcptrace: where in its stream each segment lies, against time.
//!
//! What lives here: the drawing of one direction of a connection. What deliberately does not: which connection and
//! which span of time are worth it, which the report decides.

mod document;
mod key;
mod plane;
mod segments;
mod staircase;

pub(super) use document::draw;
