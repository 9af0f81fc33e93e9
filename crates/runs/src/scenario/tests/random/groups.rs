//! Random callers, responders and churn.

use std::{collections::BTreeMap, time::Duration};

use super::{super::super::*, Random};

impl Random {
    pub(super) fn requests(&mut self, index: u32, queue: &QueueSpec) -> RequestGroup {
        let count = self.number(50);
        let connections = self.number(count);
        let schedule = self.schedule();
        RequestGroup {
            name: format!("r{index}"),
            count,
            connections,
            channels: self.number(count.div_ceil(connections)),
            queue: queue.name.clone(),
            reply: if self.chance() { ReplyPath::Direct } else { ReplyPath::Queue },
            size_bytes: self.number(1 << 20),
            persistent: self.chance(),
            write: self.write(),
            concurrency: Some(self.number(1000)).filter(|_| !schedule.is_set() || self.chance()),
            rate: schedule.rate,
            arrival: schedule.is_set().then_some(schedule.arrival),
            after_phases: (!schedule.phases.is_empty()).then_some(schedule.after_phases),
            phases: schedule.phases,
            messages: Some(u64::from(self.number(9999))).filter(|_| self.chance()),
            timeout: Duration::from_millis(u64::from(self.number(100_000))),
        }
    }

    pub(super) fn responders(&mut self, index: u32, queue: &QueueSpec) -> ResponderGroup {
        let count = self.number(50);
        let connections = self.number(count);
        let auto_ack = self.chance();
        let prefetch = u16::try_from(self.number(65_535)).unwrap();
        ResponderGroup {
            name: format!("s{index}"),
            count,
            connections,
            channels: self.number(count.div_ceil(connections)),
            queue: queue.name.clone(),
            prefetch: Some(prefetch).filter(|_| !auto_ack && self.chance()),
            auto_ack,
            size_bytes: self.number(1 << 20),
            write: self.write(),
        }
    }

    pub(super) fn churn(&mut self, index: u32, queue: &QueueSpec) -> ChurnGroup {
        let concurrency = self.number(2000);
        let connections = self.number(concurrency);
        let group = ChurnGroup {
            name: format!("churn.{index}"),
            kind: ChurnKind::Channels,
            concurrency,
            connections: Some(connections),
            rate: Some(f64::from(self.number(9999)) / 7.0).filter(|_| self.chance()),
            hold: Duration::from_millis(self.below(5000) as u64),
            cycles: Some(u64::from(self.number(9999))).filter(|_| self.chance()),
            queue_type: None,
            durable: None,
            exclusive: None,
            auto_delete: None,
            queue: None,
            exchange: None,
            arguments: None,
        };
        self.churn_of_some_kind(group, queue)
    }

    pub(super) fn pollers(&mut self, index: usize) -> PollerGroup {
        let text = |text: &str| Some(text.to_owned());
        let (has_login, has_file) = (self.chance(), self.chance());
        let trust = self.below(3);
        PollerGroup {
            name: format!("h{index}"),
            url: "https://host:15671/api/queues?page=1".to_owned(),
            count: self.number(256),
            interval: Duration::from_millis(u64::from(self.number(100_000))),
            timeout: Duration::from_millis(u64::from(self.number(100_000))),
            user: text("ü").filter(|_| has_login),
            password_env: text("P").filter(|_| has_login && !has_file),
            password_file: text("/a b").filter(|_| has_login && has_file),
            ca: text("ca.pem").filter(|_| trust == 1),
            insecure: trust == 2,
        }
    }

    fn churn_of_some_kind(&mut self, group: ChurnGroup, queue: &QueueSpec) -> ChurnGroup {
        let queue = Some(queue.name.clone()).filter(|_| !queue.exclusive && self.chance());
        let arguments: Option<BTreeMap<_, _>> = Some(self.arguments());
        match self.below(5) {
            0 => ChurnGroup { kind: ChurnKind::Connections, connections: None, ..group },
            1 => group,
            2 => {
                let queue_type =
                    [QueueType::Classic, QueueType::Quorum, QueueType::Stream][self.below(3)];
                let is_classic = queue_type == QueueType::Classic;
                ChurnGroup {
                    kind: ChurnKind::Queues,
                    queue_type: Some(queue_type),
                    durable: Some(!is_classic || self.chance()),
                    exclusive: Some(is_classic && self.chance()),
                    auto_delete: Some(is_classic && self.chance()),
                    arguments,
                    ..group
                }
            }
            3 => {
                let exchange = Some("amq.headers".to_owned());
                ChurnGroup { kind: ChurnKind::Bindings, queue, exchange, arguments, ..group }
            }
            _ => ChurnGroup { kind: ChurnKind::Consumers, queue, arguments, ..group },
        }
    }
}
