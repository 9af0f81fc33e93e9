//! MQTT 3.1, 3.1.1 and 5: packets.
//!
//! From OASIS MQTT 3.1.1 and 5.0, chapters 2 and 3.

mod grammar;
mod packet;

pub(super) use grammar::{Grammar, may_begin, opens};
