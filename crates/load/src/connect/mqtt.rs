//! The set-up of a connection of MQTT: the login, and the subscriptions of readers that begin at once.

use rabbitscope_topology::{Dialer, MqttClient, MqttIdentity, TopologyError, mqtt_error};

use crate::{
    message::{quality, version},
    plan::{LinkPlan, Members},
};

/// Connects under an identifier that no other connection of any run has. Returns the address as well, for errors.
pub(super) fn set_up(
    plan: &LinkPlan<'_>,
    dialer: &Dialer,
    turn: usize,
) -> Result<(MqttClient, String), TopologyError> {
    let client_id = format!("rabbitscope-{}-{}", plan.run, plan.number);
    let (mqtt_version, receive_maximum) = match &plan.members {
        Members::Publishers { group, .. } => (group.mqtt_version, None),
        Members::Consumers { plan, .. } => (plan.group.mqtt_version, plan.group.prefetch),
        Members::Callers { .. } | Members::Responders { .. } | Members::Churn { .. } => {
            (None, None)
        }
    };
    let version = version(mqtt_version);
    let identity = MqttIdentity { client_id: &client_id, version, receive_maximum };
    let (mut client, address) = dialer.dial_mqtt(identity, turn)?;
    match &plan.members {
        Members::Publishers { messages, .. } => {
            let (size, most) =
                (messages.largest_of_mqtt(), client.connection().maximum_packet_size());
            if size > most as usize {
                let doing = format!("messages of {size} bytes");
                let reason = format!("its packets have at most {most}");
                let is_permission = false;
                return Err(TopologyError::MqttRefused { address, doing, reason, is_permission });
            }
        }
        Members::Consumers { plan, .. } if plan.group.is_subscribed_from_the_start() => {
            let filters = &plan.group.topics;
            let request = client.connection().subscribe(filters, quality(plan.group.qos));
            let doing = format!("subscribing to {}", filters.join(", "));
            client.answered(request).map_err(|error| mqtt_error(&address, &doing, error))?;
        }
        _ => {}
    }
    Ok((client, address))
}
