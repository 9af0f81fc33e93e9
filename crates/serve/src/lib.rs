//! Pages over HTTP for a browser on this machine.
//!
//! [`serve`] shows the runs and experiments below a directory: a list, trends of their figures, two runs side by side,
//! and their reports. It only reads. Each answer is read from the disk anew, so runs that end meanwhile appear.
//!
//! [`LiveServer`] shows what happens now: ticks, a profile of the latest time, and the report at the end.
//!
//! [`serve_node`] is such a page of a running node, which it observes while somebody views the page.
//!
//! The server itself is the crate `http`, the pages the crate `web`.

mod answers;
mod live;
mod node;
mod pair;
mod scan;
mod server;
#[cfg(test)]
mod tests;

pub use live::LiveServer;
pub use node::{FindNode, serve_node};
pub use server::serve;
