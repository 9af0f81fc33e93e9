//! HTTP pollers: requests at a fixed interval during the load, each poller on its own thread.
//!
//! [`Page`] is the requested page; [`Pollers`] sends the requests and returns the results once a second. Not here: the
//! source of a password, and the rows that include the results.

mod page;
mod poller;
mod pollers;
mod statistics;

pub use page::{Page, PageError};
pub use pollers::{PollOutcome, Pollers};
