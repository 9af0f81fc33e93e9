//! Debug files of a node's native code from servers that keep them by build id (debuginfod). The feature is off unless
//! the user names servers in `DEBUGINFOD_URLS`, as for gdb, perf and elfutils, whose cache it shares.
//!
//! [`naming`] is the plot: it fetches the missing files after a recording and names functions from them. The other
//! modules:
//!
//! - [`settings`] reads the environment.
//! - [`fetch`] asks servers in order and within the time.
//! - [`client`] makes one request.
//! - [`cache`] keeps the files.
//! - [`outcome`] describes the outcome of each file.
//!
//! The probe reads the names from a debug file.

mod cache;
mod client;
mod explanation;
mod fetch;
mod naming;
mod outcome;
mod settings;

#[cfg(test)]
mod tests;

pub use explanation::explained;
pub use naming::{is_wanted, named};
