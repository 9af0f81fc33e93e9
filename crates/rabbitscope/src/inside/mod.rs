//! Looking inside a node: what its tables and processes say, as rows; queues over HTTP;
//! what the agent recorded, as profiles and tables.
//!
//! What lives here: what RabbitMQ's answers mean and how they are shown. What deliberately does not:
//! the connection and the removal of what is loaded, which `rabbitscope-erlang` sees to.

mod ages;
mod columns;
mod functions;
mod identities;
mod listing;
mod losses;
mod microstates;
mod peer;
mod prometheus;
mod rates;
mod reader;
mod rows;
mod service;
mod top;
mod tree_profile;
mod urgency;

pub(crate) use ages::AgeLimits;
pub(crate) use columns::{Align, human_bytes, table};
pub(crate) use functions::{FunctionLine, counted_table, function_table};
pub(crate) use identities::{Namer, local_node};
pub(crate) use listing::{Listing, Missing, Page, QueueRow, Shown, SortKey, Source, Wanted};
pub(crate) use losses::{said_of_calls, said_of_counters, said_of_tree};
pub(crate) use peer::Expected;
pub(crate) use prometheus::prometheus;
pub(crate) use reader::QueueReader;
pub(crate) use service::serve;
pub(crate) use top::{Key, Kind, TopReader};
pub(crate) use tree_profile::{profile_of_samples, profile_of_tree, slowest_of_tree};
