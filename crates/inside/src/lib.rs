//! RabbitMQ's queues, processes and calls as a connected node reports them.
//!
//! This crate interprets the contents of the node's tables and processes, and presents them as rows, tables, metrics
//! and profiles. Not here: the connection and the removal of loaded modules, which `rabbitscope-erlang` does.

mod asking;
mod calls;
mod check;
mod cluster;
mod container;
mod error;
mod figures;
mod limits;
mod local_node;
mod memory;
mod objects;
mod peer;
mod processes;
mod queues;
mod reading_budget;

pub use calls::{
    FunctionLine, call_notes, counted_table, counter_notes, function_table, profile_of_samples,
    profile_of_tree, slowest_of_tree, tree_notes,
};
pub use check::{CheckReader, NodeParts};
pub use cluster::{ClusterMembers, MissingNode, cluster_members};
pub use container::in_container;
pub use error::InsideError;
pub use figures::{
    FiguresReader, MAX_NAMED_QUEUES, MessageCounters, NodeFigures, QueueDepth, QueueTotals,
};
pub use local_node::local_node;
pub use memory::{MemoryReader, MemoryReport};
pub use objects::{NodeLoad, read_load, read_objects, read_traffic};
pub use peer::expected_node;
pub use processes::{
    ClusterTop, IdentityModule, IdentityResolver, KnownIdentities, ModuleBorrower, ModuleLender,
    ProcessReader, ProcessReport, Top, TopKind, TopReader, TopSortKey, WaitingReport,
    module_lending,
};
pub use queues::{
    AgeLimits, Listing, ListingView, MissingReason, Page, QueueFilter, QueueReader, QueueRow,
    QueueSource, SortKey, prometheus, serve,
};
