//! Random valid scenarios, the same in every test run.

mod groups;

use std::{collections::BTreeMap, time::Duration};

use super::super::*;

/// xorshift64
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn some<T>(&mut self, value: T) -> Option<T> {
        self.chance().then_some(value)
    }

    fn number(&mut self, limit: u32) -> u32 {
        1 + u32::try_from(self.below(limit as usize)).unwrap()
    }

    pub(super) fn scenario(&mut self) -> Scenario {
        let broker = if self.chance() {
            BrokerSpec::Existing { uri: "amqp://me@host:5673/v%2F?heartbeat=7".to_owned() }
        } else {
            BrokerSpec::Throwaway(ThrowawayBroker {
                plugins: vec!["rabbitmq_stream".to_owned()],
                config: "a = 1\nb = \"2\"\n".to_owned(),
                advanced_config: "[{rabbit, []}].".to_owned(),
                erl_args: "+S 1 '\\'".to_owned(),
            })
        };
        let queues: Vec<_> = (0..self.number(3)).map(|index| self.queue(index)).collect();
        let publishers = (0..self.number(3)).map(|index| self.publishers(index)).collect();
        let consumers = queues.iter().map(|queue| self.consumers(queue)).collect();
        let may_be_asked = queues
            .iter()
            .find(|queue: &&QueueSpec| queue.queue_type != QueueType::Stream && !queue.exclusive);
        let asked: Vec<_> = may_be_asked.cloned().into_iter().collect();
        let requests = (0..2).zip(&asked).map(|(at, queue)| self.requests(at, queue)).collect();
        let responders = (0..2).zip(&asked).map(|(at, queue)| self.responders(at, queue)).collect();
        let churn = (0..self.number(3)).map(|index| self.churn(index, &queues[0])).collect();
        let duration = Duration::from_millis(u64::from(self.number(100_000)));
        Scenario {
            name: "r.1_2-3".to_owned(),
            description: "quotes \" ' and\nlines ü".to_owned(),
            seed: u64::from(self.number(1000)),
            broker,
            stop: Stop { duration: Some(duration) },
            queues,
            publishers,
            consumers,
            requests,
            responders,
            churn,
            profile: self.some(ProfileSpec {
                event: ProfileEvent::Cpu,
                delay: duration / 4,
                duration: duration / 2,
                freq_hz: 999,
            }),
        }
    }

    fn queue(&mut self, index: u32) -> QueueSpec {
        let queue_type = [QueueType::Classic, QueueType::Quorum, QueueType::Stream][self.below(3)];
        let is_classic = queue_type == QueueType::Classic;
        QueueSpec {
            name: format!("q.{index} \"ü\""),
            queue_type,
            durable: !is_classic || self.chance(),
            exclusive: is_classic && self.chance(),
            auto_delete: is_classic && self.chance(),
            arguments: self.arguments(),
            bindings: (0..self.below(3))
                .map(|number| Binding {
                    exchange: format!("e.{number}"),
                    routing_key: if number == 0 { String::new() } else { "a.*.#".to_owned() },
                })
                .collect(),
            keep: !is_classic && self.chance(),
        }
    }

    fn arguments(&mut self) -> BTreeMap<String, FieldValue> {
        let all = [
            ("x-max-length", FieldValue::Integer(-5)),
            ("x-ratio", FieldValue::Float(0.25)),
            ("x-max-age", FieldValue::Text("1h".to_owned())),
            ("x flag", FieldValue::Bool(true)),
            ("x-list", FieldValue::Array(vec![FieldValue::Integer(1), FieldValue::Bool(false)])),
            (
                "x-table",
                FieldValue::Table(BTreeMap::from([("k".to_owned(), FieldValue::Float(2.0))])),
            ),
        ];
        all.into_iter().filter_map(|(key, value)| self.some((key.to_owned(), value))).collect()
    }

    fn publishers(&mut self, index: u32) -> PublisherGroup {
        let count = self.number(50);
        let connections = self.number(count);
        let to_queue = self.chance();
        let (exchange, routing_key) =
            if to_queue { ("", "q.0 \"ü\"") } else { ("amq.topic", "a.#") };
        PublisherGroup {
            name: format!("p{index}"),
            count,
            connections,
            channels: self.number(count.div_ceil(connections)),
            exchange: exchange.to_owned(),
            routing_key: routing_key.to_owned(),
            size_bytes: self.number(1 << 20),
            persistent: self.chance(),
            confirm_window: Some(self.number(2000)).filter(|_| self.chance()),
            mandatory: self.chance(),
            rate: Some(f64::from(self.number(9999)) / 7.0).filter(|_| self.chance()),
            messages: Some(u64::from(self.number(9999))).filter(|_| self.chance()),
        }
    }

    fn consumers(&mut self, queue: &QueueSpec) -> ConsumerGroup {
        let count = self.number(50);
        let connections = if queue.exclusive { 1 } else { self.number(count) };
        let auto_ack = queue.queue_type != QueueType::Stream && self.chance();
        let prefetch = u16::try_from(self.number(65_535)).unwrap();
        let channels = self.number(count.div_ceil(connections));
        let is_shared = channels < count.div_ceil(connections);
        ConsumerGroup {
            name: format!("c of {}", queue.name),
            count,
            connections,
            channels,
            queue: queue.name.clone(),
            prefetch: (!auto_ack).then_some(prefetch),
            auto_ack,
            multi_ack_every: if auto_ack { 1 } else { self.number(u32::from(prefetch)) },
            arguments: self.arguments(),
            messages: Some(u64::from(self.number(9999))).filter(|_| self.chance() && !is_shared),
        }
    }
}
