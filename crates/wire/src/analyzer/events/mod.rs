//! What goes wrong on connections: what frames say, and what the ends do without a word.
//!
//! ```text
//! log    events that are alike, counted; bounded
//! words  a frame ─► an event: codes and texts of each protocol
//! life   a connection from its first packet to its last: silences, resets, ends without a word
//! ```

mod life;
mod log;
mod words;

pub(super) use life::Life;
pub(super) use log::{EventLog, Seen};
