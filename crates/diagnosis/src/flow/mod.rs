//! Flow control, explained: the chains of blocked processes, and the roots that block them.

mod chains;

pub(crate) use chains::roots;
pub use chains::{ChainLink, FlowChain, FlowRoot};
