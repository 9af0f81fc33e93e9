//! Connections of MQTT clients.

use super::super::super::{
    error::{Problem, refuse},
    model::UNSET,
};

/// Gives each member its own connection, which is a client of MQTT. One connection is the default of all groups.
pub(super) fn own_connections(
    count: u32,
    connections: &mut u32,
    channels: u32,
) -> Result<(), Problem> {
    if channels != UNSET && channels != 1 {
        return refuse("channels", "MQTT has no channels: leave it out");
    }
    if *connections == 1 {
        *connections = count;
    }
    if *connections != count {
        let reason = format!(
            "is {connections}, but each member has its own with MQTT, which is its client identifier: leave it out, or \
             give {count}"
        );
        return refuse("connections", reason);
    }
    Ok(())
}

/// Checks the quality of service.
pub(super) fn quality(qos: Option<u8>) -> Result<(), Problem> {
    match qos {
        None | Some(0 | 1) => Ok(()),
        Some(_) => refuse("qos", "must be 0 or 1: RabbitMQ has no other"),
    }
}
