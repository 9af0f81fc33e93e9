//! An event of a client of MQTT ─► flows.

use rabbitscope_wire::{
    activity::{Action, Connect, Delivered, Event, Filters, Published},
    report::Side,
};

use super::{
    super::{
        mqtt::{Client, EXCHANGE, Protocol, Version, is_topic, without_dots},
        publishing::{Around, ConfirmMode},
        reading::Prefetch,
        seen::text,
    },
    step::Step,
};

/// The tag of the one reader of a client.
const READER: &[u8] = b"";

impl Step<'_> {
    pub(super) fn packet(&mut self, event: &Event<'_>) {
        self.state.mqtt.get_or_insert_default();
        match &event.action {
            Action::Connect(connect) => self.connect(connect),
            Action::Publish(message) => self.publish_by_mqtt(event, message),
            Action::Deliver(message) => self.deliver_by_mqtt(message),
            Action::Subscribe(filters) => self.subscribe(*filters),
            Action::Settle(settled) => {
                let is_of_broker = self.sender == Side::Broker;
                self.settle(settled);
                if is_of_broker && let Some(channel) = self.state.channel(self.place.1) {
                    // The promise of a flow is that of its quality of service.
                    channel.mode = ConfirmMode::Off;
                }
            }
            _ => {}
        }
    }

    fn connect(&mut self, connect: &Connect<'_>) {
        self.state.mqtt = Some(Client {
            version: Version::from_level(connect.level),
            id: Some(text(connect.client_id)).filter(|id| !id.is_empty()),
            receive_maximum: connect.receive_maximum,
        });
        self.flows.mqtt.wills += u64::from(connect.has_will);
        self.flows.mqtt.persistent += u64::from(connect.is_persistent);
        if let Some(channel) = self.state.channel(self.place.1) {
            channel.begin_by_mqtt();
        }
    }

    /// Learns the version from a message, if the CONNECT was not seen. Returns the protocol.
    fn protocol(&mut self, level: Option<u8>, qos: u8) -> Protocol {
        let client = self.state.mqtt.get_or_insert_default();
        if let Some(level) = level.filter(|_| client.version == Version::Unknown) {
            client.version = Version::from_level(level);
        }
        Protocol::Mqtt { version: client.version, qos }
    }

    fn client_id(&self) -> Option<String> {
        self.state.mqtt.as_ref()?.id.clone()
    }

    fn publish_by_mqtt(&mut self, event: &Event<'_>, message: &Published<'_>) {
        self.state.published += 1;
        let settings = message.content.mqtt.unwrap_or_default();
        let qos = settings.quality_of_service.min(1);
        let counts = &mut self.flows.mqtt;
        counts.retained += u64::from(settings.is_retained);
        counts.of_quality_2 += u64::from(settings.quality_of_service > 1);
        let protocol = self.protocol(settings.level, qos);
        let Some(place) = self.publish_flow(&[qos], EXCHANGE.as_bytes()) else {
            self.flows.left_out += 1;
            return;
        };
        let topic = self.topic(message.routing_key);
        let message = Published { routing_key: topic.as_bytes(), ..*message };
        let client_id = self.client_id();
        let answers = std::mem::take(&mut self.state.answers);
        let Some(channel) = self.state.channel(self.place.1) else { return };
        if let Some(number) = message.number {
            channel.confirms.publish_number(number);
        }
        let mut around = Around {
            answers: &answers,
            unconfirmed: channel.confirms.unconfirmed().filter(|_| qos > 0),
            unconfirmed_at_least: channel.confirms.at_least(),
            block: self.block,
            random: self.random,
        };
        let flow = &mut self.flows.publishes[place];
        if flow.messages == 0 {
            self.flows.mqtt.of_both_qualities += u64::from(channel.publishes.len() > 1);
            flow.client_id = client_id;
        }
        flow.protocol = protocol;
        flow.mode = if qos > 0 { ConfirmMode::Confirms } else { ConfirmMode::Off };
        flow.publish(event, &message, &mut around);
        self.state.answers = answers;
    }

    /// Returns the topic of a publish; empty if it is unknown or none.
    fn topic(&mut self, sent: &[u8]) -> String {
        let topic = text(sent);
        if !is_topic(&topic) {
            self.flows.mqtt.without_topic += 1;
            return String::new();
        }
        self.flows.mqtt.with_dot += u64::from(topic.contains('.'));
        without_dots(&topic)
    }

    /// Returns the flow of the client's reader, whose quality of service is this one at least.
    fn reader(&mut self, level: Option<u8>, qos: u8) -> Option<usize> {
        let place = self.consumer(READER)?;
        let limit = self.state.mqtt.as_ref().and_then(|client| client.receive_maximum);
        let (client_id, known) = (self.client_id(), self.flows.reads[place].protocol);
        let qos = match known {
            Protocol::Mqtt { qos: known, .. } => known.max(qos),
            _ => qos,
        };
        let protocol = self.protocol(level, qos);
        let flow = &mut self.flows.reads[place];
        flow.protocol = protocol;
        flow.no_ack = Some(qos == 0);
        flow.client_id = flow.client_id.take().or(client_id);
        if let Some(limit) = limit {
            flow.prefetch = Prefetch::Consumer(limit);
        }
        Some(place)
    }

    fn subscribe(&mut self, filters: Filters<'_>) {
        for (filter, quality) in filters.each() {
            self.flows.mqtt.of_quality_2 += u64::from(quality > 1);
            let Some(place) = self.reader(None, quality.min(1)) else { return };
            let subscription = &mut self.flows.reads[place].subscription;
            subscription.is_seen = true;
            let filter = text(filter);
            let is_taken = subscription.add(without_dots(&filter));
            self.flows.mqtt.with_dot += u64::from(filter.contains('.'));
            self.flows.mqtt.without_filter += u64::from(!is_taken);
        }
    }

    fn deliver_by_mqtt(&mut self, message: &Delivered<'_>) {
        self.state.delivered += 1;
        self.state.answers.add(self.now);
        let settings = message.content.mqtt.unwrap_or_default();
        self.flows.mqtt.retained += u64::from(settings.is_retained);
        let quality = settings.quality_of_service.min(1);
        let Some(place) = self.reader(settings.level, quality) else {
            self.flows.left_out += 1;
            return;
        };
        let moment = (self.now, self.block);
        let read = &mut self.flows.reads[place];
        read.deliver(moment, message.content.header.body_bytes, message.redelivered);
        let topic = text(message.routing_key);
        if is_topic(&topic) {
            read.routes.add((EXCHANGE.to_owned(), without_dots(&topic)));
        }
        if message.delivery_tag == 0 {
            return;
        }
        if let Some(channel) = self.state.channel(self.place.1) {
            let unsettled = channel.deliveries.add(message.delivery_tag, place, self.now);
            read.hold(moment, unsettled);
        }
    }
}
