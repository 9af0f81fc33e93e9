//! HTTP pollers: requests at a fixed interval beside the load, each poller on a thread of its own.
//!
//! [`Page`] is what is asked for and by whom; [`Pollers`] asks, and is asked once a second what it
//! saw. What deliberately is not here: where a password comes from, and the rows that the answers
//! end up in.

mod page;
mod poller;
mod pollers;
mod statistics;

pub use page::{Page, PageError};
pub use pollers::{PollOutcome, Pollers};
