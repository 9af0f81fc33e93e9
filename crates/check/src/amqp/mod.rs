//! The broker over one AMQP connection: its properties, the time of its answers, and the queues that the user names.
//! Nothing is declared or published.

mod options;
mod queues;
mod reading;

pub use options::AmqpOptions;
pub(crate) use reading::read;
