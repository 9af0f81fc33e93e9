//! HTTP pollers: requests at a fixed interval beside the load, each poller on a thread of its own.
//!
//! [`Page`] is what is requested; [`Pollers`] sends the requests and returns its results once a
//! second. Not here: where a password comes from, and the rows that the results are added to.

mod page;
mod poller;
mod pollers;
mod statistics;

pub use page::{Page, PageError};
pub use pollers::{PollOutcome, Pollers};
