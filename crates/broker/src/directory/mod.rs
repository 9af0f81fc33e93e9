//! The directory of one throwaway broker: configuration, cookie, data.
//!
//! ```text
//! $TMPDIR/rabbitscope-UID/brokers/NAME/      0700
//!     born                                   when it was made
//!     home/.erlang.cookie                    0600, random, of all nodes
//!     guard.sh epmd.log
//!     node-2/                                of a cluster; the files of an only node are in NAME/ itself
//!         environment.sh                     0600, the variables of the node's environment
//!         rabbitmq.conf                      0600, has the password of the first user
//!         advanced.config enabled_plugins console.log data/
//!         node.json                          0600, written once the node serves clients
//! ```

mod environment;
mod files;
mod listeners;
mod place;
mod planned;

pub(crate) use environment::search_path;
pub(crate) use files::prepare;
pub(crate) use listeners::Ports;
pub(crate) use place::{brokers_directory, random_hex, write_private};
pub(crate) use planned::PlannedNode;
