//! Queues, exchanges and their arguments.

mod arguments;
mod exchanges;
mod queues;

pub use arguments::{FieldValue, Time};
pub use exchanges::{Binding, ExchangeSpec, MemberQueues, NumberRange, has_placeholder};
pub use queues::{QueueNames, QueueSpec, QueueType};
