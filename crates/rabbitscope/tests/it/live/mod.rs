//! Live pages: a running node.

mod node;
mod viewer;
