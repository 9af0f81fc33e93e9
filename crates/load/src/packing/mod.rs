//! Items in messages. They are joined and compressed for each message, as an application does it, and separated again
//! by the consumers. Compare the batches of RabbitMQ's streams; in AMQP 0-9-1 such packing is an agreement between
//! applications.
//!
//! In the body of a message with several items, each item follows its length (4 bytes, big-endian). The header
//! `rabbitscope-items` has their number. `content-encoding` names the compression.

mod codec;
mod packer;
mod unpacker;

pub(crate) use codec::{Compressor, decompress};
pub(crate) use packer::Packer;
pub(crate) use unpacker::{Items, Unpacker};
