//! A planned node, from which its files and its environment are made.

use std::path::PathBuf;

use super::ports::Ports;

/// A node before its start.
#[derive(Debug)]
pub(crate) struct PlannedNode {
    /// Its number in a cluster, from 1; absent for a single node.
    pub(crate) number: Option<u32>,
    /// The Erlang name, `rabbitscope-1a2b-1@localhost`.
    pub(crate) node_name: String,
    /// The directory of its own files.
    pub(crate) files: PathBuf,
    /// Its log file.
    pub(crate) log: PathBuf,
    pub(crate) ports: Ports,
}
