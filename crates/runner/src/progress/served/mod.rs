//! The live page of a run: ticks of its seconds, notices and states, the windows of its profile, and what limits it.
//!
//! ```text
//! watchers ─► ServedPage ─► LiveServer ─► viewers
//!                │             ▲ ▲
//!                └► Judge ─────┘ │      (a thread: the load never waits for it)
//! recorder ─► windows ───────────┘
//! ```
//!
//! The server is in `crates/serve`, the contents of ticks in `crates/web`.

mod clock;
mod judge;
mod page;
mod so_far;

pub use page::ServedPage;
