//! Queues, exchanges and their arguments.

mod arguments;
mod exchanges;
mod queues;

pub use arguments::{FieldValue, Time};
pub use exchanges::{Binding, ExchangeSpec, MemberQueues, NumberRange, has_placeholder};
pub(in crate::scenario) use queues::PARTITION_ORDER;
pub use queues::{QueueNames, QueueSpec, QueueType};
