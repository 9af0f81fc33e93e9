//! Live pages: a running node.

mod node;
pub(crate) mod viewer;
