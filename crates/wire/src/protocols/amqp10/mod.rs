//! AMQP 1.0: frames with performatives, and those of its SASL layer.
//!
//! From OASIS AMQP 1.0, part 2 (transport, section 2.3 and 2.7) and part 5 (security, section 5.3).

mod deliveries;
mod elements;
mod errors;
mod fields;
mod grammar;
mod message;
mod parts;
mod performative;
mod private;

pub(crate) use elements::{Content, Elements};
pub(super) use grammar::{Grammar, may_begin, opens};
pub(crate) use message::address_and_subject;
