//! Numbers and layouts of AMQP 0-9-1, from the specification and from RabbitMQ's extensions. The codec and every other
//! reader of the protocol use these.

pub mod frames;
pub mod methods;
pub mod properties;
pub mod reply_codes;
pub mod values;
