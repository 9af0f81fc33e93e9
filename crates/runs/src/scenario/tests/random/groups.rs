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
            schedule,
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
        let subject = self.churn_subject(queue);
        let concurrency = self.number(2000);
        let connections = self.number(concurrency);
        let is_of_connections = subject == ChurnSubject::Connections;
        ChurnGroup {
            name: format!("churn.{index}"),
            subject,
            concurrency,
            connections: if is_of_connections { 1 } else { connections },
            rate: Some(f64::from(self.number(9999)) / 7.0).filter(|_| self.chance()),
            hold: Duration::from_millis(self.below(5000) as u64),
            cycles: Some(u64::from(self.number(9999))).filter(|_| self.chance()),
        }
    }

    pub(super) fn pollers(&mut self, index: usize) -> PollerGroup {
        let source = |name: &str| name.to_owned();
        let password = if self.chance() {
            PasswordSource::Environment(source("P"))
        } else {
            PasswordSource::File(source("/a b"))
        };
        let trust =
            [PollerTrust::System, PollerTrust::Authorities(source("ca.pem")), PollerTrust::Anybody];
        PollerGroup {
            name: format!("h{index}"),
            url: source("https://host:15671/api/queues?page=1"),
            count: self.number(256),
            interval: Duration::from_millis(u64::from(self.number(100_000))),
            timeout: Duration::from_millis(u64::from(self.number(100_000))),
            login: self.some(PollerLogin { user: source("ü"), password }),
            trust: trust[self.below(3)].clone(),
        }
    }

    fn churn_subject(&mut self, queue: &QueueSpec) -> ChurnSubject {
        let queue = Some(queue.name.clone()).filter(|_| !queue.exclusive && self.chance());
        let arguments: BTreeMap<_, _> = self.arguments();
        match self.below(5) {
            0 => ChurnSubject::Connections,
            1 => ChurnSubject::Channels,
            2 => {
                let queue_type =
                    [QueueType::Classic, QueueType::Quorum, QueueType::Stream][self.below(3)];
                let is_classic = queue_type == QueueType::Classic;
                ChurnSubject::Queues(ChurnedQueue {
                    queue_type,
                    durable: !is_classic || self.chance(),
                    exclusive: is_classic && self.chance(),
                    auto_delete: is_classic && self.chance(),
                    arguments,
                })
            }
            3 => ChurnSubject::Bindings { queue, exchange: "amq.headers".to_owned(), arguments },
            _ => ChurnSubject::Consumers { queue, arguments },
        }
    }
}
