//! Flow control, explained: the chains of blocked processes, and the roots that block them.

mod blocked;
mod chains;
mod direct;

pub(crate) use chains::roots;
pub use chains::{ChainLink, FlowChain, FlowRoot};
pub(crate) use direct::{DirectRoot, direct_roots};
