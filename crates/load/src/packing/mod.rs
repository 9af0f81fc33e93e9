//! Items in messages: joined and compressed for each message, as an application would, and taken apart again. Compare the
//! batches of RabbitMQ's streams; in AMQP 0-9-1 such packing is an agreement between applications.
//!
//! The body of a message with several items is each item behind its length (4 bytes, big-endian); their number is in the
//! header `rabbitscope-items`. What is compressed says so in `content-encoding`.

mod codec;
mod packer;
mod unpacker;

pub(crate) use packer::Packer;
pub(crate) use unpacker::{Items, Unpacker};
