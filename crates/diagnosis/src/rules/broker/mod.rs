//! Rules about the broker: alarms, statistics, policies, churn.

pub(super) mod channel_churn;
pub(super) mod classic_paging;
pub(super) mod connection_churn;
pub(super) mod descriptors;
pub(super) mod disk_alarm;
pub(super) mod http_load;
pub(super) mod leaders;
pub(super) mod memory_alarm;
pub(super) mod mirroring;
mod openers;
pub(super) mod queue_churn;
pub(super) mod redeliveries;
pub(super) mod statistics_overload;
pub(super) mod tracing;
pub(super) mod unroutable;
