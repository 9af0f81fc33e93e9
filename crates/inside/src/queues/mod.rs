//! Queues with depth, consumers and memory, read from the broker's tables or from the queues themselves.
//!
//! ```text
//! QueueReader ── messages of the agent ──► Rows + QueueCache ──► Listing ── QueueFilter, SortKey, Page ──► ListingView
//! ```

mod ages;
mod cache;
mod cluster_listing;
mod filter;
mod listing;
mod priority_budget;
mod prometheus;
mod reader;
mod row;
mod rows;
mod service;
mod shared_strings;

pub use ages::AgeLimits;
pub use filter::{Page, QueueFilter, SortKey};
pub use listing::{Listing, ListingView};
pub use prometheus::prometheus;
pub use reader::QueueReader;
pub use row::{MissingReason, QueueRow, QueueSource};
pub use service::serve;
