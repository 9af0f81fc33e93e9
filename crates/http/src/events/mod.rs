//! Events for browsers (server-sent events): one ring of the latest ones, and the place of each viewer in it.
//!
//! ```text
//!  sender ─► Broadcast: head, ring of the latest events ◄─ Viewer ─► connection
//!                       (bounded bytes)                 ◄─ Viewer ─► connection
//! ```
//!
//! A viewer holds no events, only the number of the next one. So memory does not grow with viewers, and a sender
//! never waits for one.

mod broadcast;
mod viewer;

pub use broadcast::Broadcast;
pub(crate) use viewer::Viewer;
