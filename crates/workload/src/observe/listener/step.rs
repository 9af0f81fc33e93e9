//! An event of a connection of AMQP 0-9-1 ─► flows.

use rabbitscope_runs::Random;
use rabbitscope_wire::{
    activity::{
        Action, Binding, Consume, Delivered, Event, Get, Published, QueueDeclare, Settled, Value,
    },
    report::Side,
};

use super::super::{
    connection::Connection,
    flows::Flows,
    publishing::{Around, ConfirmMode, PublishFlow, PublishKey},
    reading::ReadFlow,
    seen::text,
};
use crate::topology::Destination;

/// Maximum of flows of each direction.
pub(super) const FLOWS_MAX: usize = 16_384;
/// RabbitMQ's queue for direct replies.
const DIRECT_REPLY_TO: &[u8] = b"amq.rabbitmq.reply-to";

/// The parts that an event concerns.
pub(super) struct Step<'a> {
    pub(super) place: (u64, u16),
    pub(super) now: u64,
    /// Number of the block of time.
    pub(super) block: usize,
    pub(super) sender: Side,
    pub(super) state: &'a mut Connection,
    pub(super) flows: &'a mut Flows,
    pub(super) random: &'a mut Random,
}

impl Step<'_> {
    pub(super) fn action(&mut self, event: &Event<'_>) {
        match &event.action {
            Action::Start(client) => {
                self.state.product = text(client.product);
                self.state.group = client.group.map(text);
            }
            Action::Open(vhost) => self.state.vhost = Some(text(vhost)),
            Action::ChannelOpen => {
                self.flows.churn.channels_opened += 1;
                self.state.open_channel(self.place.1, self.now);
            }
            Action::ChannelClose => {
                let opened = self.state.close_channel(self.place.1);
                // The broker closes channels after errors.
                if let Some(opened) = opened.filter(|_| self.sender == Side::Client) {
                    let life = self.now.saturating_sub(opened);
                    self.flows.churn.channel_lives.add(life);
                }
            }
            Action::ExchangeDeclare(declare) => {
                self.flows.seen.exchange(self.state.vhost(), declare);
            }
            Action::QueueDeclare(declare) => self.queue_declare(declare),
            Action::QueueDeclared(name) => self.queue_declared(&text(name)),
            Action::QueueDelete(_) => self.flows.churn.queues_deleted += 1,
            Action::QueueBind(binding) => self.bind(binding, Destination::Queue),
            Action::ExchangeBind(binding) => self.bind(binding, Destination::Exchange),
            Action::Publish(message) => self.publish(event, message),
            Action::Return(_) => self.flows.returned += 1,
            Action::Deliver(message) => self.deliver(message),
            Action::Settle(settled) => self.settle(settled),
            Action::Consume(consume) => self.consume(consume),
            Action::Cancel(_) if self.sender == Side::Client => {
                self.flows.churn.consumers_cancelled += 1;
            }
            Action::Get(get) => self.get(get),
            Action::TxCommitted => self.state.answers.add(self.now),
            Action::Tune(_) | Action::Close | Action::Cancel(_) => {}
            other => self.channel_action(other),
        }
    }

    /// Processes the actions that concern only a channel.
    fn channel_action(&mut self, action: &Action<'_>) {
        let Some(channel) = self.state.channel(self.place.1) else { return };
        match action {
            Action::Qos(qos) => channel.set_prefetch(*qos),
            Action::Consuming(tag) => {
                if let Some(flow) = channel.nameless.answer() {
                    channel.consumers.insert(tag.to_vec(), flow);
                    self.flows.reads[flow].consumer_tag = text(tag);
                }
            }
            Action::GetEmpty => {
                if let Some(flow) = channel.asked.answer() {
                    self.flows.reads[flow].answer(self.now, true);
                }
            }
            Action::ConfirmSelect => channel.select_confirms(),
            Action::TxSelect => channel.mode = ConfirmMode::Transactions,
            Action::TxCommit => {
                channel.mode = ConfirmMode::Transactions;
                for flow in channel.publishes.values() {
                    self.flows.publishes[*flow].commits += 1;
                }
            }
            Action::Recover { .. } => channel.deliveries.forget(),
            _ => {}
        }
    }

    fn queue_declare(&mut self, declare: &QueueDeclare<'_>) {
        self.flows.churn.queues_declared += 1;
        let queue = self.flows.seen.declared(declare);
        let vhost = self.state.vhost().to_owned();
        let Some(channel) = self.state.channel(self.place.1) else { return };
        if declare.queue.is_empty() {
            return channel.declared.add(queue);
        }
        let name = text(declare.queue);
        if let Some(queue) = queue {
            self.flows.seen.queue(&vhost, &name, queue);
        }
        channel.last_queue = Some(name);
    }

    fn queue_declared(&mut self, name: &str) {
        let vhost = self.state.vhost().to_owned();
        let Some(channel) = self.state.channel(self.place.1) else { return };
        // Other declarations have told their names already.
        if channel.last_queue.as_deref() != Some(name)
            && let Some(Some(queue)) = channel.declared.answer()
        {
            self.flows.seen.queue(&vhost, name, queue);
        }
        channel.last_queue = Some(name.to_owned());
    }

    fn bind(&mut self, binding: &Binding<'_>, kind: Destination) {
        let vhost = self.state.vhost().to_owned();
        let Some(channel) = self.state.channel(self.place.1) else { return };
        let last = channel.last_queue.clone().unwrap_or_default();
        let destination =
            if binding.destination.is_empty() { last } else { text(binding.destination) };
        self.flows.seen.binding(&vhost, binding, (kind, &destination));
    }

    fn publish(&mut self, event: &Event<'_>, message: &Published<'_>) {
        self.state.published += 1;
        let Some(flow) = self.publish_flow(message.exchange, message.exchange) else {
            self.flows.left_out += 1;
            return;
        };
        let answers = std::mem::take(&mut self.state.answers);
        if let Some(channel) = self.state.channel(self.place.1) {
            channel.confirms.publish();
            channel.turns.publish(self.now);
            let is_confirmed = channel.mode == ConfirmMode::Confirms;
            let mut around = Around {
                answers: &answers,
                unconfirmed: channel.confirms.unconfirmed().filter(|_| is_confirmed),
                unconfirmed_at_least: channel.confirms.at_least(),
                block: self.block,
                random: self.random,
            };
            let flow = &mut self.flows.publishes[flow];
            flow.mode = channel.mode;
            flow.publish(event, message, &mut around);
        }
        self.state.answers = answers;
    }

    /// Returns the flow of publishes with this name to an exchange; none if there are too many.
    pub(super) fn publish_flow(&mut self, name: &[u8], exchange: &[u8]) -> Option<usize> {
        let (connection, number) = self.place;
        if let Some(known) = self.state.channel(number)?.publishes.get(name) {
            return Some(*known);
        }
        let key = PublishKey { connection, channel: number, exchange: text(exchange) };
        let (vhost, product) = (self.state.vhost.clone(), self.state.product.clone());
        let (client, group) = (Some(self.state.client), self.state.group.clone());
        let flow = PublishFlow { group, key, client, vhost, product, ..PublishFlow::default() };
        let place = add(&mut self.flows.publishes, flow)?;
        self.state.channel(number)?.publishes.insert(name.to_vec(), place);
        Some(place)
    }

    fn deliver(&mut self, message: &Delivered<'_>) {
        self.state.delivered += 1;
        self.state.answers.add(self.now);
        let now = self.now;
        let flow = match message.consumer_tag {
            Some(tag) => self.consumer(tag),
            None => self.state.channel(self.place.1).and_then(|channel| channel.asked.answer()),
        };
        let Some(flow) = flow else {
            self.flows.left_out += 1;
            return;
        };
        let read = &mut self.flows.reads[flow];
        let bytes = message.content.header.body_bytes;
        read.deliver((now, self.block), bytes, message.redelivered);
        if read.is_polling {
            read.answer(now, false);
        }
        read.routes.add((text(message.exchange), text(message.routing_key)));
        if read.no_ack == Some(true) {
            return;
        }
        if let Some(channel) = self.state.channel(self.place.1) {
            let unsettled = channel.deliveries.add(message.delivery_tag, flow, now);
            read.hold((now, self.block), unsettled);
        }
    }

    /// Returns the flow of a consumer, also of one that began before the capture.
    pub(super) fn consumer(&mut self, tag: &[u8]) -> Option<usize> {
        if let Some(flow) = self.state.channel(self.place.1)?.consumers.get(tag) {
            return Some(*flow);
        }
        let flow = ReadFlow { consumer_tag: text(tag), ..self.read_flow() };
        let place = add(&mut self.flows.reads, flow)?;
        self.state.channel(self.place.1)?.consumers.insert(tag.to_vec(), place);
        Some(place)
    }

    pub(super) fn read_flow(&self) -> ReadFlow {
        let (connection, channel) = self.place;
        let (vhost, product) = (self.state.vhost.clone(), self.state.product.clone());
        let (client, group) = (Some(self.state.client), self.state.group.clone());
        ReadFlow { group, connection, client, channel, vhost, product, ..ReadFlow::default() }
    }

    pub(super) fn settle(&mut self, settled: &Settled) {
        let Settled { delivery_tag, multiple, settlement } = *settled;
        if self.sender == Side::Broker {
            self.state.answers.add(self.now);
            let Some(channel) = self.state.channel(self.place.1) else { return };
            channel.mode = ConfirmMode::Confirms;
            return channel.confirms.confirm(delivery_tag, multiple);
        }
        let Some(channel) = self.state.channel(self.place.1) else { return };
        let batches = channel.deliveries.settle(delivery_tag, multiple, self.now);
        let single = match batches[..] {
            [(flow, batch)] if batch.messages == 1 => Some((flow, batch.last_delivered)),
            _ => None,
        };
        let delivered = single.map(|(_, delivered)| delivered);
        let relayed = channel.turns.settle(self.now, delivered, self.random);
        if let Some((flow, _)) = single {
            self.flows.reads[flow].relayed.add(relayed);
        }
        for (flow, batch) in batches {
            self.flows.reads[flow].settle((self.now, self.block), settlement, batch);
        }
    }

    fn consume(&mut self, consume: &Consume<'_>) {
        self.flows.churn.consumers_started += 1;
        let mut flow = self.read_flow();
        let Some(channel) = self.state.channel(self.place.1) else { return };
        let last = channel.last_queue.clone();
        flow.queue = if consume.queue.is_empty() { last } else { Some(text(consume.queue)) };
        flow.no_ack = Some(consume.no_ack);
        flow.exclusive = consume.exclusive;
        flow.prefetch = channel.prefetch();
        flow.priority = consume.arguments.known().find_map(|(key, value)| match value {
            Value::Integer(priority) if key == b"x-priority" => Some(priority),
            _ => None,
        });
        flow.consumer_tag = text(consume.consumer_tag);
        self.flows.direct_replies += u64::from(consume.queue == DIRECT_REPLY_TO);
        let Some(place) = add(&mut self.flows.reads, flow) else { return };
        if consume.consumer_tag.is_empty() {
            channel.nameless.add(place);
        } else {
            channel.consumers.insert(consume.consumer_tag.to_vec(), place);
            if !consume.no_wait {
                // The answer repeats the tag.
                channel.nameless.add(place);
            }
        }
    }

    fn get(&mut self, get: &Get<'_>) {
        let Some(channel) = self.state.channel(self.place.1) else { return };
        let last = channel.last_queue.clone().unwrap_or_default();
        let queue = if get.queue.is_empty() { last } else { text(get.queue) };
        let Some(place) = self.poll_flow(queue, get.no_ack) else { return };
        self.flows.reads[place].ask((self.now, self.block));
        if let Some(channel) = self.state.channel(self.place.1) {
            channel.asked.add(place);
        }
    }

    /// Returns the flow of `basic.get` for a queue; none if there are too many.
    fn poll_flow(&mut self, queue: String, no_ack: bool) -> Option<usize> {
        if let Some(flow) = self.state.channel(self.place.1)?.polls.get(&queue) {
            return Some(*flow);
        }
        let (of, no_ack) = (Some(queue.clone()), Some(no_ack));
        let flow = ReadFlow { queue: of, is_polling: true, no_ack, ..self.read_flow() };
        let place = add(&mut self.flows.reads, flow)?;
        self.state.channel(self.place.1)?.polls.insert(queue, place);
        Some(place)
    }
}

/// Adds a flow, and returns its place; none if there are too many.
pub(super) fn add<T>(flows: &mut Vec<T>, flow: T) -> Option<usize> {
    (flows.len() < FLOWS_MAX).then(|| {
        flows.push(flow);
        flows.len() - 1
    })
}
