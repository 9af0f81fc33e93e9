//! Pages over HTTP for a browser on this machine.
//!
//! [`serve`] shows the runs and experiments below a directory: a list, trends of their figures, two runs side by side,
//! and their reports. It only reads. Each answer is read from the disk anew, so runs that end meanwhile appear.
//!
//! The server itself is the crate `http`, the pages the crate `web`.

mod answers;
mod pair;
mod scan;
mod server;
#[cfg(test)]
mod tests;

pub use server::serve;
