//! The directory of one throwaway broker: configuration, cookie, data.
//!
//! ```text
//! $TMPDIR/rabbitscope-UID/brokers/NAME/      0700
//!     lock                                   locked for as long as a process of the broker lives
//!     born origin.json                       when and where it was made
//!     home/.erlang.cookie                    0600, random, of all nodes
//!     guard.sh epmd.log vm.config
//!     load_modules.eval                      Erlang that each node evaluates before it starts RabbitMQ
//!     rabbitscope_epmd.erl .beam             of a cluster: the ports of its nodes, without a port mapper
//!     node-2/                                of a cluster; the files of an only node are in NAME/ itself
//!         environment.sh                     0600, the variables of the node's environment
//!         rabbitmq.conf                      0600, has the password of the first user
//!         advanced.config enabled_plugins console.log data/
//!         node.json                          0600, written once the node serves clients
//! ```

mod environment;
mod files;
mod held;
mod listeners;
mod lock;
mod place;
mod planned;
mod plugin_path;
mod plugins;
mod ports;

pub(crate) use environment::search_path;
pub(crate) use files::{ORIGIN, prepare};
pub(crate) use held::Held;
pub(crate) use lock::{DirectoryLock, LOCK, Unlockable};
pub(crate) use place::{brokers_directory, random_hex, write_private};
pub(crate) use planned::PlannedNode;
pub(crate) use plugin_path::require_plugins;
pub(crate) use ports::Ports;
