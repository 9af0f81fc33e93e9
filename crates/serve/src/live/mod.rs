//! A live page: one stream of ticks and one ring of profile windows, for all viewers.
//!
//! ```text
//!  tick ─► Broadcast ─────────────────────────────► /events
//!  window ─► ring of windows ─► sum of a span ─► /profile.json
//!  end ─► "end" to all, the report ─────────────► /report.html
//! ```
//!
//! [`LiveServer`] sends; its callers measure and decide the times of ticks. None of its methods waits for a viewer. The
//! contents of the events are in the crate `web`.

mod answers;
mod server;
#[cfg(test)]
mod tests;
mod windows;

pub use server::LiveServer;
