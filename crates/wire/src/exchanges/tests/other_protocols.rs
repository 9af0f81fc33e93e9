//! AMQP 1.0, the stream protocol, MQTT.

use super::script::Script;
use crate::{
    protocols::{
        Details, Disposition, IdentifierRun, MqttPacket, Outcome, Protocol, StreamCommand,
        StreamPublish, Transfer,
    },
    report::{
        LatencyKind::{DeliverToAck, Method, PublishToConfirm},
        Side,
    },
};

#[test]
fn transfers_and_dispositions() {
    let mut script = Script::new(Protocol::Amqp10);
    let transfer = |delivery_id, more, settled| {
        Details::Transfer(Transfer {
            handle: 0,
            delivery_id,
            delivery_tag_bytes: None,
            settled,
            more,
            aborted: false,
            payload_bytes: 1,
            sections: None,
        })
    };
    let disposition = |is_receiver, first, last| {
        let (settled, outcome, state) = (true, Some(Outcome::Accepted), Some(0x24));
        Details::Disposition(Disposition { is_receiver, first, last, settled, outcome, state })
    };
    script.at(1, Side::Client, "transfer", transfer(Some(0), true, false));
    script.at(2, Side::Client, "transfer", transfer(None, false, false));
    script.at(3, Side::Client, "transfer", transfer(Some(1), false, true));
    script.at(4, Side::Client, "transfer", transfer(Some(2), false, false));
    script.at(5, Side::Broker, "transfer", transfer(Some(0), false, false));
    script.at(6, Side::Client, "disposition", disposition(false, 0, 2)).check(&[]);
    script.at(7, Side::Broker, "disposition", disposition(true, 0, u32::MAX));
    script.check(&[(PublishToConfirm, 5, 2, 7), (PublishToConfirm, 3, 4, 7)]);
    script.at(8, Side::Client, "disposition", disposition(true, 0, 0));
    script.check(&[(DeliverToAck, 3, 5, 8)]);
}

#[test]
fn publishing_ids_of_streams() {
    let mut script = Script::new(Protocol::RabbitmqStream);
    let publish = |entries| {
        let messages = 1;
        Details::StreamPublish(StreamPublish {
            publisher: 1,
            entries,
            messages,
            ..Default::default()
        })
    };
    let run = |first, count| IdentifierRun { first, count };
    script.with_ids(1, Side::Client, "publish", publish(2), &[run(5, 2)]);
    script.with_ids(2, Side::Client, "publish", publish(1), &[run(9, 1)]);
    script.with_ids(3, Side::Broker, "publish-confirm", publish(2), &[run(6, 1), run(9, 1)]);
    script.check(&[(PublishToConfirm, 2, 1, 3), (PublishToConfirm, 1, 2, 3)]);
    script.check_unmatched(PublishToConfirm, [1, 0, 0, 0]);
    let command = |is_response| {
        let correlation = Some(3);
        Details::StreamCommand(StreamCommand { key: 21, version: 1, is_response, correlation })
    };
    script.at(4, Side::Client, "open", command(false));
    script.at(6, Side::Broker, "open-response", command(true)).check(&[(Method, 2, 4, 6)]);
}

#[test]
fn packets_of_mqtt() {
    let mut script = Script::new(Protocol::Mqtt);
    let packet = |quality_of_service, identifier| {
        Details::Mqtt(MqttPacket { quality_of_service, identifier, ..MqttPacket::default() })
    };
    script.at(1, Side::Client, "PUBLISH", packet(0, 0));
    script.at(2, Side::Client, "PUBLISH", packet(1, 8));
    script.at(3, Side::Broker, "PUBLISH", packet(2, 8));
    script.at(4, Side::Broker, "PUBACK", packet(0, 8)).check(&[(PublishToConfirm, 2, 2, 4)]);
    script.at(5, Side::Client, "PUBREC", packet(0, 8)).check(&[(DeliverToAck, 2, 3, 5)]);
    script.at(6, Side::Client, "PINGREQ", packet(0, 0));
    script.at(7, Side::Broker, "PINGRESP", packet(0, 0)).check(&[(Method, 1, 6, 7)]);
    script.at(8, Side::Broker, "PUBACK", packet(0, 8)).check(&[]);
    script.check_unmatched(PublishToConfirm, [0, 1, 0, 0]);
}
