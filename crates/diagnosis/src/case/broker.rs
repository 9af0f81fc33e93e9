//! Figures and settings of the whole broker.

use std::collections::BTreeMap;

/// Figures and settings of a broker. Figures that a release does not have are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Broker {
    /// Version of RabbitMQ, such as `3.10.8`.
    pub version: String,
    /// Release of OTP, such as `25`.
    pub otp: String,
    /// Names of the cluster's running nodes, this one included.
    pub nodes: Vec<String>,
    /// Messages per second of this node.
    pub rates: MessageRates,
    /// Objects opened and closed per second. Absent if the broker does not count them.
    pub churn: Option<Churn>,
    /// Number of client connections.
    pub connections: Option<u64>,
    /// Number of channels and sessions.
    pub channels: Option<u64>,
    /// Number of consumers.
    pub consumers: Option<u64>,
    /// Memory of the VM by kind (`processes`, `binary`, `ets`, `code`, `atom`, `other`) in bytes.
    pub memory_bytes: BTreeMap<String, u64>,
    /// Memory against the alarm's watermark, in bytes.
    pub memory: Option<Use>,
    /// Free bytes on the disk of the node's data.
    pub disk_free_bytes: Option<u64>,
    /// Free bytes below which the alarm is raised.
    pub disk_limit_bytes: Option<u64>,
    /// File descriptors of the node.
    pub descriptors: Option<Use>,
    /// Alarms such as `memory` or `disk`, of this node or of another one (`disk on rabbit@b`).
    pub alarms: Vec<String>,
    /// Number of connections that an alarm blocks.
    pub blocked_connections: Option<u64>,
    /// Settings.
    pub settings: Settings,
    /// Policies with `ha-mode`, as `vhost/name`.
    pub mirroring_policies: Vec<String>,
    /// Virtual hosts with tracing.
    pub traced_vhosts: Vec<String>,
}

/// Messages per second of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MessageRates {
    /// Published by clients.
    pub published: Option<f64>,
    /// Confirmed to publishers.
    pub confirmed: Option<f64>,
    /// Delivered to consumers or by gets, including redeliveries.
    pub delivered: Option<f64>,
    /// Acknowledged by consumers.
    pub acknowledged: Option<f64>,
    /// Delivered again.
    pub redelivered: Option<f64>,
    /// Accepted by no queue.
    pub unroutable: Option<f64>,
    /// Delivered by `basic.get`.
    pub got: Option<f64>,
    /// Answers of an empty queue to `basic.get`.
    pub get_empty: Option<f64>,
}

/// Objects opened and closed per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Churn {
    /// Opened connections.
    pub connections_opened: f64,
    /// Closed connections.
    pub connections_closed: f64,
    /// Opened channels.
    pub channels_opened: f64,
    /// Closed channels.
    pub channels_closed: f64,
    /// Declared queues, new or not.
    pub queues_declared: f64,
    /// Created queues.
    pub queues_created: f64,
    /// Deleted queues.
    pub queues_deleted: f64,
}

/// A used amount and its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// The used amount.
    pub used: u64,
    /// The limit.
    pub limit: u64,
}

impl Use {
    /// Returns the used share, 0 to 1 or above.
    pub fn share(self) -> f64 {
        if self.limit == 0 { 0.0 } else { self.used as f64 / self.limit as f64 }
    }
}

/// Settings of a broker that rules consult.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `collect_statistics`: `none`, `coarse` or `fine`.
    pub statistics: Option<String>,
    /// `collect_statistics_interval` in milliseconds.
    pub statistics_interval_ms: Option<u64>,
    /// Other settings as Erlang terms, by application and key: `rabbit.vm_memory_high_watermark` → `0.4`.
    pub other: BTreeMap<String, String>,
}
