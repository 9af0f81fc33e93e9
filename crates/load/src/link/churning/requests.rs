//! The requests that open and close a subject of churn, by its kind.

use rabbitscope_amqp::{Connection, Request, Table};
use rabbitscope_runs::scenario::ChurnSubject;
use rabbitscope_topology::{field_table, typed_queue_arguments};

use crate::plan::{ChurnMembers, Placement};

/// Prefetch of a churning consumer; streams require a limit. Chosen: churn measures opening, not throughput.
const PREFETCH: u16 = 100;

pub(super) enum Subject {
    Channels,
    Queues {
        /// The queue name of each slot.
        names: Vec<String>,
        durable: bool,
        exclusive: bool,
        auto_delete: bool,
        arguments: Table,
    },
    Bindings {
        queue: TargetQueue,
        exchange: String,
        /// The routing key of each slot, which has one binding at a time.
        keys: Vec<String>,
        arguments: Table,
    },
    Consumers {
        queue: TargetQueue,
        arguments: Table,
    },
}

/// The queue that all slots of a connection bind or consume.
pub(super) struct TargetQueue {
    /// Absent until the broker has named it.
    name: Option<String>,
    /// True for a queue that is declared for churn alone. It belongs to the connection, and the broker names it.
    is_own: bool,
}

impl Subject {
    pub(super) fn new(members: &ChurnMembers<'_>, placements: &[Placement]) -> Self {
        let names =
            || placements.iter().map(|placement| members.name_of(placement.member)).collect();
        match members.group.subject() {
            ChurnSubject::Connections | ChurnSubject::Channels => Self::Channels,
            ChurnSubject::Queues { queue_type, durable, exclusive, auto_delete, arguments } => {
                Self::Queues {
                    names: names(),
                    durable,
                    exclusive,
                    auto_delete,
                    arguments: typed_queue_arguments(queue_type, arguments),
                }
            }
            ChurnSubject::Bindings { queue, exchange, arguments } => Self::Bindings {
                queue: TargetQueue::new(queue),
                exchange: exchange.to_owned(),
                keys: names(),
                arguments: field_table(arguments),
            },
            ChurnSubject::Consumers { queue, arguments } => Self::Consumers {
                queue: TargetQueue::new(queue),
                arguments: field_table(arguments),
            },
        }
    }

    pub(super) fn is_channels(&self) -> bool {
        matches!(self, Self::Channels)
    }

    fn queue(&mut self) -> Option<&mut TargetQueue> {
        match self {
            Self::Bindings { queue, .. } | Self::Consumers { queue, .. } => Some(queue),
            Self::Channels | Self::Queues { .. } => None,
        }
    }

    /// Returns whether the queue that this subject needs is known.
    pub(super) fn is_ready(&self) -> bool {
        match self {
            Self::Bindings { queue, .. } | Self::Consumers { queue, .. } => queue.name.is_some(),
            Self::Channels | Self::Queues { .. } => true,
        }
    }

    pub(super) fn own_queue_is(&mut self, name: String) {
        if let Some(queue) = self.queue() {
            queue.name = Some(name);
        }
    }

    /// Forgets a queue that was deleted with the connection.
    pub(super) fn on_disconnect(&mut self) {
        if let Some(queue) = self.queue().filter(|queue| queue.is_own) {
            queue.name = None;
        }
    }

    /// Sets a new channel up.
    pub(super) fn prepare(&self, channel: u16, connection: &mut Connection) {
        if let Self::Consumers { .. } = self {
            connection.request(channel, &Request::Qos { prefetch: PREFETCH, global: false });
        }
    }

    /// Requests the queue, binding or consumer of `slot`.
    pub(super) fn open(&self, slot: usize, channel: u16, connection: &mut Connection) {
        match self {
            Self::Channels => {}
            Self::Queues { names, durable, exclusive, auto_delete, arguments } => {
                let declare = Request::QueueDeclare {
                    queue: &names[slot],
                    passive: false,
                    durable: *durable,
                    exclusive: *exclusive,
                    auto_delete: *auto_delete,
                    arguments,
                };
                connection.request(channel, &declare);
            }
            Self::Bindings { queue, exchange, keys, arguments } => {
                let (queue, routing_key) = (queue.name(), keys[slot].as_str());
                let bind = Request::QueueBind { queue, exchange, routing_key, arguments };
                connection.request(channel, &bind);
            }
            Self::Consumers { queue, arguments } => {
                let consume = Request::Consume {
                    queue: queue.name(),
                    consumer_tag: "churn",
                    no_local: false,
                    auto_ack: false,
                    exclusive: false,
                    arguments,
                };
                connection.request(channel, &consume);
            }
        }
    }

    /// Requests the end of the queue, binding or consumer of `slot`.
    pub(super) fn close(&self, slot: usize, channel: u16, connection: &mut Connection) {
        match self {
            Self::Channels => connection.close_channel(channel),
            Self::Queues { names, .. } => {
                let queue = &names[slot];
                let delete = Request::QueueDelete { queue, if_unused: false, if_empty: false };
                connection.request(channel, &delete);
            }
            Self::Bindings { queue, exchange, keys, arguments } => {
                let (queue, routing_key) = (queue.name(), keys[slot].as_str());
                let unbind = Request::QueueUnbind { queue, exchange, routing_key, arguments };
                connection.request(channel, &unbind);
            }
            Self::Consumers { .. } => {
                connection.request(channel, &Request::Cancel { consumer_tag: "churn" });
            }
        }
    }
}

/// Declares the queue for bindings or consumers whose group names none.
pub(super) fn declare_own_queue(channel: u16, connection: &mut Connection) {
    let declare = Request::QueueDeclare {
        queue: "",
        passive: false,
        durable: false,
        exclusive: true,
        auto_delete: false,
        arguments: &Table::default(),
    };
    connection.request(channel, &declare);
}

impl TargetQueue {
    fn new(name: Option<&String>) -> Self {
        Self { name: name.cloned(), is_own: name.is_none() }
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}
