//! Looking inside a node: what its tables and processes say, as rows; queues over HTTP;
//! what the agent recorded, as profiles and tables.
//!
//! What lives here: what RabbitMQ's answers mean and how they are shown. What deliberately does not:
//! the connection and the removal of what is loaded, which `rabbitscope-erlang` sees to.

mod ages;
mod error;
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

pub use ages::AgeLimits;
pub use error::InsideError;
pub use functions::{FunctionLine, counted_table, function_table};
pub use identities::{Namer, local_node};
pub use listing::{Listing, Missing, Page, QueueRow, Shown, SortKey, Source, Wanted};
pub use losses::{said_of_calls, said_of_counters, said_of_tree};
pub use peer::Expected;
pub use prometheus::prometheus;
pub use reader::QueueReader;
pub use service::serve;
pub use top::{Key, Kind, TopReader};
pub use tree_profile::{profile_of_samples, profile_of_tree, slowest_of_tree};
