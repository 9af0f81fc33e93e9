//! Time-sequence graphs after Stevens and tcptrace: the place of each segment in its stream, against time.
//!
//! The drawing of one direction of a connection is here. The report chooses the connections and the spans of time.

mod document;
mod key;
mod plane;
mod segments;
mod staircase;

pub(super) use document::draw;
