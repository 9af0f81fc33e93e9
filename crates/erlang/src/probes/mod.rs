//! What the agent of `agent/` can be asked, as types: single calls, call trees, counters, samples.
//!
//! What lives here: the source that is sent, requests as terms, answers as types. What deliberately
//! does not: tables, flame graphs, anything of the command line.

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
