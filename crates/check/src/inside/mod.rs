//! The parts of a case that come from inside of the node.
//!
//! * `reading`: the request that spans the check;
//! * `depths`: messages of queues on a broker that keeps no statistics.

mod depths;
mod reading;

pub(crate) use reading::read;
