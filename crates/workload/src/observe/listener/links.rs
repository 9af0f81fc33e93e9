//! An event of a connection of AMQP 1.0 or of the stream protocol ─► flows.

use rabbitscope_wire::{
    activity::{
        Action, Attach, Chunk, Delivered, Event, Published, SettledRange, Settlement, Start,
        StoredOffset,
    },
    protocols,
    report::Side,
};

use super::{
    super::{
        channel::Channel,
        links::{Address, Link, StreamReader},
        mqtt::Protocol,
        publishing::{Around, ConfirmMode},
        reading::{Batch, Prefetch, ReadFlow},
        seen::text,
    },
    step::{FLOWS_MAX, Step, add},
};

/// The tag of the one reader of a channel.
const READER: &[u8] = b"";
/// The name of the flow of a publisher whose begin was not seen.
const UNKNOWN: &str = "?";
/// Bytes of the longest name of a reader that a scenario can have.
const NAME_MAX: usize = 255;
/// Number of the compression that a scenario does not have.
const SNAPPY: u8 = 2;

impl Step<'_> {
    pub(super) fn of_link(&mut self, event: &Event<'_>) {
        let protocol = match event.protocol {
            protocols::Protocol::Amqp10 => Protocol::Amqp10,
            _ => Protocol::Stream,
        };
        match &event.action {
            Action::Start(client) => {
                self.state.product = text(client.product);
                self.state.group = client.group.map(text);
            }
            Action::Open(vhost) => self.state.vhost = Some(text(vhost)),
            Action::Attach(attach) => self.attach(attach, protocol),
            Action::Joined(joined) => {
                if let Some(channel) = self.state.channel(self.place.1) {
                    channel.joined = Some(*joined);
                }
            }
            Action::Detach => self.detach(),
            Action::Credit(credit) => self.credit(*credit, protocol),
            Action::Publish(message) => self.publish_on_link(event, message, protocol),
            Action::Deliver(message) => self.deliver_on_link(message),
            Action::Chunk(chunk) => self.chunk(*chunk),
            Action::SettleRange(range) => self.settle_range(*range),
            Action::StoreOffset(stored) => self.store_offset(stored),
            _ => {}
        }
    }

    fn attach(&mut self, attach: &Attach<'_>, protocol: Protocol) {
        let address = Address::from_place(attach.place);
        let is_control = address == Address::Control;
        let counts = &mut self.flows.links;
        counts.transactions +=
            u64::from(attach.place == rabbitscope_wire::activity::Place::Transactions);
        let queue = match &address {
            Address::Queue(queue) => Some(queue.clone()),
            _ => None,
        };
        let mut channel = Channel::of_link(self.now, Link::new(address, attach.has_reference));
        if attach.is_reader && !is_control {
            counts.filters += u64::from(attach.filters);
            counts.other_starts += u64::from(attach.start == Some(Start::Other));
            let flow = ReadFlow { queue, ..self.link_reader(attach, protocol) };
            let Some(place) = add(&mut self.flows.reads, flow) else { return };
            channel.consumers.insert(READER.to_vec(), place);
        }
        self.state.add_link(self.place.1, channel);
    }

    fn detach(&mut self) {
        let reader = self.state.channel(self.place.1);
        let reader = reader.and_then(|channel| channel.consumers.get(READER).copied());
        if let Some(place) = reader.filter(|_| self.sender == Side::Broker) {
            let flow = &mut self.flows.reads[place];
            flow.is_refused = flow.deliveries == 0;
            self.flows.links.refused_readers += u64::from(flow.is_refused);
        }
        self.state.close_channel(self.place.1);
    }

    fn link_reader(&self, attach: &Attach<'_>, protocol: Protocol) -> ReadFlow {
        let name = text(attach.name);
        let is_named = !name.is_empty() && name.len() <= NAME_MAX;
        let stream = StreamReader {
            credit: attach.credit,
            start: attach.start,
            is_single_active: attach.is_single_active && is_named,
            // Until it stores an offset, a reader needs its name only to be the active one.
            name: if attach.is_single_active && is_named { name } else { String::new() },
        };
        ReadFlow {
            protocol,
            no_ack: Some(attach.is_settled),
            priority: attach.priority,
            stream,
            ..self.read_flow()
        }
    }

    fn credit(&mut self, credit: u32, protocol: Protocol) {
        let moment = (self.now, self.block);
        let Some(channel) = self.state.channel(self.place.1) else { return };
        let Some(place) = channel.consumers.get(READER).copied() else { return };
        let flow = &mut self.flows.reads[place];
        if protocol == Protocol::Amqp10 {
            let credit = u16::try_from(credit).unwrap_or(u16::MAX);
            let known = match flow.prefetch {
                Prefetch::Consumer(known) => known,
                _ => 0,
            };
            if credit > 0 {
                flow.prefetch = Prefetch::Consumer(known.max(credit));
            }
            return;
        }
        let Some(link) = &mut channel.link else { return };
        for (delivered, messages) in link.take(credit) {
            let batch = Batch { messages: u64::from(messages), ..Batch::of_one(delivered) };
            flow.process(moment, batch);
        }
    }

    /// Returns exchange and routing key of a message; none for messages of no load. Both are empty if they are unknown.
    fn target(&mut self, message: &Published<'_>) -> Option<(String, String)> {
        let counts = &mut self.flows.links;
        let channel = self.state.channel(self.place.1)?;
        let Some(link) = &channel.link else { return Some(Default::default()) };
        let own = (link.address == Address::PerMessage).then(|| {
            counts.addressed += 1;
            Address::from_text(message.exchange)
        });
        let found = match own.as_ref().unwrap_or(&link.address) {
            Address::Control => return None,
            Address::Queue(queue) => (String::new(), queue.clone()),
            Address::Exchange { exchange, key } => {
                let subject = || text(message.routing_key).replace('\0', "");
                (exchange.clone(), key.clone().unwrap_or_else(subject))
            }
            Address::PerMessage | Address::Unknown => {
                counts.of_unknown_address += 1;
                Default::default()
            }
        };
        Some(found)
    }

    fn publish_on_link(&mut self, event: &Event<'_>, message: &Published<'_>, protocol: Protocol) {
        let Some((exchange, key)) = self.target(message) else { return };
        self.state.published += 1;
        let name = match (&exchange[..], &key[..]) {
            ("", "") => UNKNOWN.to_owned(),
            ("", queue) => format!("={queue}"),
            (exchange, _) => exchange.to_owned(),
        };
        let Some(place) = self.publish_flow(name.as_bytes(), exchange.as_bytes()) else {
            self.flows.left_out += 1;
            return;
        };
        let message = self.counted(message, key.as_bytes());
        let answers = std::mem::take(&mut self.state.answers);
        let Some(channel) = self.state.channel(self.place.1) else { return };
        if let Some(number) = message.number {
            channel.confirms.publish_number(number);
        }
        let mut around = Around {
            answers: &answers,
            unconfirmed: channel.confirms.unconfirmed().filter(|_| message.number.is_some()),
            unconfirmed_at_least: channel.confirms.at_least(),
            block: self.block,
            random: self.random,
        };
        let flow = &mut self.flows.publishes[place];
        flow.protocol = protocol;
        flow.mode = if message.number.is_some() { ConfirmMode::Confirms } else { ConfirmMode::Off };
        flow.joined = channel.joined;
        if let Some(link) = &channel.link {
            flow.stream.has_reference = link.has_reference;
        }
        if let Some((of_entry, codec)) =
            message.content.stream.and_then(|of| Some((of.of_entry?, of.codec)))
        {
            flow.most_of_entry = flow.most_of_entry.max(of_entry);
            flow.stream.codec = Some(codec);
        }
        flow.publish(event, &message, &mut around);
        self.state.answers = answers;
    }

    /// Counts what a scenario does not express of a message, and returns it as it is modelled: without a header it is
    /// durable.
    fn counted<'m>(&mut self, message: &Published<'m>, key: &'m [u8]) -> Published<'m> {
        let counts = &mut self.flows.links;
        let mut message = Published { routing_key: key, ..*message };
        if let Some(of) = message.content.amqp10 {
            counts.settled += u64::from(of.is_settled);
            counts.unread_sections += u64::from(!of.is_read);
            counts.without_header += u64::from(of.is_read && !of.has_header);
            message.content.header.is_persistent |= !of.has_header;
        }
        if let Some(of) = message.content.stream {
            counts.with_filter += u64::from(of.has_filter);
            counts.with_properties += u64::from(!of.is_data);
            counts.of_snappy += u64::from(of.codec == SNAPPY && of.of_entry.is_some());
        }
        message
    }

    fn deliver_on_link(&mut self, message: &Delivered<'_>) {
        let link = self.state.channel(self.place.1).and_then(|channel| channel.link.as_ref());
        if link.is_some_and(|link| link.address == Address::Control) {
            return;
        }
        self.state.delivered += 1;
        self.state.answers.add(self.now);
        let Some(place) = self.consumer(READER) else {
            self.flows.left_out += 1;
            return;
        };
        let moment = (self.now, self.block);
        let read = &mut self.flows.reads[place];
        read.protocol = Protocol::Amqp10;
        let is_settled = message.delivery_tag == 0;
        read.no_ack.get_or_insert(is_settled);
        if read.consumer_tag.is_empty() {
            read.consumer_tag = text(message.consumer_tag.unwrap_or_default());
        }
        read.deliver(moment, message.content.header.body_bytes, message.redelivered);
        if is_settled {
            return;
        }
        if let Some(channel) = self.state.channel(self.place.1) {
            read.joined = channel.joined;
            let unsettled = channel.deliveries.add(message.delivery_tag, place, self.now);
            read.hold(moment, unsettled);
        }
    }

    fn chunk(&mut self, chunk: Chunk) {
        self.state.delivered += u64::from(chunk.messages);
        self.state.answers.add(self.now);
        let Some(place) = self.consumer(READER) else {
            self.flows.left_out += u64::from(chunk.messages);
            return;
        };
        let moment = (self.now, self.block);
        let read = &mut self.flows.reads[place];
        read.protocol = Protocol::Stream;
        read.no_ack.get_or_insert(false);
        read.deliver_chunk(moment, chunk.messages, chunk.bytes);
        let Some(channel) = self.state.channel(self.place.1) else { return };
        let link = channel.link.get_or_insert_with(|| Box::new(Link::joined()));
        if let Some(held) = link.hold(self.now, chunk.messages) {
            read.hold(moment, held);
        }
    }

    fn settle_range(&mut self, range: SettledRange) {
        let SettledRange { first, last, settlement } = range;
        if self.sender == Side::Client {
            let Some(channel) = self.state.channel(self.place.1) else { return };
            for (flow, batch) in channel.deliveries.settle_range(first, last, self.now) {
                self.flows.reads[flow].settle((self.now, self.block), settlement, batch);
            }
            return;
        }
        self.state.answers.add(self.now);
        let count = (last - first).saturating_add(1);
        match settlement {
            Settlement::Ack => {}
            // RabbitMQ releases messages that no queue takes.
            Settlement::Reject { requeue: true } => self.flows.returned += count,
            _ => self.flows.links.refused += count,
        }
        let Some(channel) = self.state.channel(self.place.1) else { return };
        (first..=last).for_each(|number| channel.confirms.confirm(number, false));
    }

    /// Notes the name. Readers that began before the capture get their streams later.
    fn store_offset(&mut self, stored: &StoredOffset<'_>) {
        let (name, stream) = (text(stored.name), text(stored.stream));
        if name.is_empty() || name.len() > NAME_MAX {
            return;
        }
        let place = (self.place.0, stream);
        let has_room = self.flows.stored_offsets.len() < FLOWS_MAX;
        if has_room || self.flows.stored_offsets.contains_key(&place) {
            self.flows.stored_offsets.entry(place).or_insert((name, 0)).1 += 1;
        }
    }
}
