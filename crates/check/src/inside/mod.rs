//! The parts of a case that come from inside of the node.
//!
//! * `reading`: the request that spans the check;
//! * `session`: a connection for several checks;
//! * `depths`: messages of queues on a broker that keeps no statistics.

mod depths;
mod reading;
mod session;

pub(crate) use reading::read;
pub use session::NodeSession;
