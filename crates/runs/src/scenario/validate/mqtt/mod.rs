//! Checks of groups that use MQTT: keys that it does not have, quality of service, topics.

mod clients;
mod consumers;
mod publishers;
mod topics;

pub(super) use consumers::keys as consumer_keys;
pub(super) use publishers::keys as publisher_keys;
