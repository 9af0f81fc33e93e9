//! Requests to the agent of `agent/`, and its answers, as types: single calls, call trees, counters, samples.
//!
//! This module has requests as terms and answers as types. Tables, flame graphs and the command line are elsewhere.

mod answer;
mod calls;
mod counters;
mod samples;
mod scrub;
mod session;
mod target;
mod tree;

pub use calls::{CallFilter, CallsRequest, CallsResult, TracedCall};
pub use counters::{CountedFunction, Counters};
pub use samples::{SampledStack, Samples};
pub use session::{ProbeSession, Watch};
pub use target::{FunctionName, FunctionPattern, ProcessKind, ProcessName, Who};
pub use tree::{CallTree, NodeKey, Slowest, TreeNode, TreeRequest, TreeResult, Trigger};
