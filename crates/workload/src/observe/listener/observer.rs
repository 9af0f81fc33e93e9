//! The listener of an analysis: events ─► flows.

use rabbitscope_runs::Random;
use rabbitscope_wire::{
    activity::{Action, ActivityListener, Ends, Event},
    packet::Timestamp,
    protocols::Protocol,
    report::Side,
};
use rustc_hash::FxHashMap;

use super::{
    super::{connection::Connection, flows::Flows, replies},
    step::{FLOWS_MAX, Step},
};
use crate::topology::canonical;

/// Collects flows.
#[derive(Debug)]
pub struct Observer {
    connections: FxHashMap<u64, Connection>,
    flows: Flows,
    random: Random,
}

impl Default for Observer {
    fn default() -> Self {
        Self {
            connections: FxHashMap::default(),
            flows: Flows { first: u64::MAX, ..Flows::default() },
            random: Random::new(1),
        }
    }
}

impl ActivityListener for Observer {
    fn opened(&mut self, connection: u64, ends: &Ends) {
        self.flows.connections += 1;
        self.flows.churn.connections_opened += u64::from(ends.from_the_start);
        self.connections.insert(connection, Connection::new(ends));
        self.see(ends.time.unix_nanos());
    }

    fn event(&mut self, connection: u64, event: &Event<'_>) {
        self.see(event.time.unix_nanos());
        if let Some(state) = self.connections.get_mut(&connection) {
            let now = event.time.unix_nanos();
            if let Action::Record(bytes) = event.action {
                match event.sender {
                    Side::Client => {
                        state.records.add(now, bytes, &state.answers, &mut self.random);
                    }
                    Side::Broker => {
                        state.answers.add(now);
                        state.records.answer_bytes += bytes;
                    }
                }
                return;
            }
            state.is_readable = true;
            state.protocol = Some(event.protocol);
            let place = (connection, event.channel);
            let Self { flows, random, .. } = self;
            let block = flows.block(now);
            let sender = event.sender;
            let mut step = Step { place, now, block, sender, state, flows, random };
            match event.protocol {
                Protocol::Mqtt => step.packet(event),
                Protocol::Amqp10 | Protocol::RabbitmqStream => step.of_link(event),
                _ => step.action(event),
            }
        }
    }

    fn missed(&mut self, connection: u64, _: Side) {
        self.flows.missed += 1;
        let Some(state) = self.connections.get_mut(&connection) else { return };
        for channel in state.channels() {
            channel.miss();
            for flow in channel.publishes.values() {
                self.flows.publishes[*flow].interrupt();
            }
            for flow in channel.polls.values() {
                self.flows.reads[*flow].interrupt();
            }
        }
    }

    fn ended(&mut self, connection: u64, time: Timestamp, is_closed: bool) {
        self.see(time.unix_nanos());
        let Some(mut state) = self.connections.remove(&connection) else { return };
        let client = canonical(state.client);
        let is_idle = !is_closed && state.is_idle();
        let has_links = matches!(state.protocol, Some(Protocol::Amqp10 | Protocol::RabbitmqStream));
        if has_links {
            self.flows.idle_links += u64::from(is_idle);
        } else if state.mqtt.is_none() {
            self.flows.idle += u64::from(is_idle);
        } else if is_idle && self.flows.idle_by_mqtt.len() < FLOWS_MAX {
            self.flows.idle_by_mqtt.insert(client);
        }
        if state.is_readable {
            self.flows.read_clients.insert(client);
        } else if state.records.count > 0 && self.flows.records.len() < FLOWS_MAX {
            self.flows.records.insert(client, std::mem::take(&mut state.records));
        }
        if let Some(opened) = state.opened.filter(|_| is_closed) {
            let churn = &mut self.flows.churn;
            let life = time.unix_nanos().saturating_sub(opened);
            if state.mqtt.is_some() {
                return churn.lives_by_mqtt.add(life);
            }
            if has_links {
                return churn.lives_of_links.add(life);
            }
            churn.connection_lives.add(life);
            churn.short_with_messages += u64::from(state.published + state.delivered > 0);
        }
    }
}

impl Observer {
    fn see(&mut self, nanos: u64) {
        self.flows.first = self.flows.first.min(nanos);
        self.flows.last = self.flows.last.max(nanos);
    }

    /// Returns the flows.
    pub fn finish(self) -> Flows {
        let mut flows = self.flows;
        flows.end();
        replies::find(&mut flows);
        flows
    }
}
