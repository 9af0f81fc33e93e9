//! Exchanges and queues before and after a run: looked up, declared, restored, removed.

mod belongings;
mod connection;
mod declarations;
mod depths;
mod look_up;
mod markers;
mod removal;
mod removed;
mod requests;
mod restorer;

pub(crate) use belongings::new_token;
pub use belongings::{Belongings, OwnedBinding, OwnedExchange, OwnedQueue};
pub(crate) use connection::Topology;
pub(crate) use declarations::{Needs, QueueSet};
pub use depths::Depths;
pub(crate) use look_up::look_up;
pub use removal::{Messages, remove_leftovers};
pub(crate) use removal::{RemovalPolicy, remove};
pub use removed::{Kept, KeptReason, Leftovers, Removal};
pub(crate) use requests::{
    bind_request, declare_request, field_table, queue_arguments, typed_queue_arguments,
};
pub(crate) use restorer::Restorer;
