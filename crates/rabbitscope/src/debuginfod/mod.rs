//! Debug files of a node's native code from servers that keep them by build id (debuginfod): off unless the user names
//! servers in `DEBUGINFOD_URLS`, as for gdb, perf and elfutils, whose cache is shared.
//!
//! [`naming`] is the plot: what is missing after a recording is fetched and names its functions. [`settings`] reads the
//! environment, [`fetch`] asks servers in order and within the time, [`client`] makes one request, [`cache`] keeps what
//! came, [`outcome`] says what became of each file. How a debug file names code is the probe's business.

mod cache;
mod client;
mod explanation;
mod fetch;
mod naming;
mod outcome;
mod settings;

#[cfg(test)]
mod tests;

pub(crate) use explanation::explained;
pub(crate) use naming::{is_wanted, named};
