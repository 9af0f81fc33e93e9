//! MQTT 3.1, 3.1.1 and 5: packets.
//!
//! From OASIS MQTT 3.1.1 and 5.0, chapters 2 and 3.
//!
//! ```text
//! packet       types of packets
//! recognition  bytes that may be packets
//! state        the place in a packet
//! grammar      all packets; publish and connect have two of them
//! properties   properties of MQTT 5
//! ```

mod connect;
mod grammar;
mod packet;
mod properties;
mod publish;
mod recognition;
mod state;

pub(super) use grammar::Grammar;
pub(crate) use properties::{Property, Value as PropertyValue, properties, variable};
pub(super) use recognition::{may_begin, opens};
