//! Problems on connections: those that frames report, and those that the behaviour of the ends shows.
//!
//! ```text
//! log    equal events, with their counts; bounded
//! words  a frame ─► an event: codes and texts of each protocol
//! life   a connection from its first packet to its last: silences, resets, ends without a closing frame
//! login  the broker's answers until a connection is open
//! ```

mod life;
mod log;
mod login;
mod words;

pub(super) use life::Life;
pub(super) use log::{EventLog, Seen};
