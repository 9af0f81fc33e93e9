//! The two arms of an experiment, and the metric that decides.

use super::settings::BrokerSettings;

/// An experiment without its texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proof {
    pub(super) metric: ProofMetric,
    /// Settings of the first arm beyond the scenario.
    pub(super) observed: Arm,
    /// Settings of the arm with the change.
    pub(super) changed: Arm,
}

/// The metric that decides, with those beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProofMetric {
    /// Published messages per second, at full speed.
    Published,
    /// Consumed messages per second, at full speed.
    Consumed,
    /// CPU time of the broker for a message, at a constant rate.
    Cpu,
    /// The most memory of the broker, at a constant rate.
    Memory,
}

/// Settings of an arm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arm {
    /// Keys of the scenario, with values in TOML.
    pub(super) set: Vec<(&'static str, String)>,
    /// `rabbitmq.conf`, `advanced.config` and flags of the VM, in place of those of the scenario.
    pub(super) broker: Option<BrokerSettings>,
}

impl ProofMetric {
    /// Returns the primary metric, and those that stand beside it.
    pub(super) const fn names(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Published => ("published.rate", &["broker.cpu-per-message"]),
            Self::Consumed => ("consumed.rate", &["broker.cpu-per-message"]),
            Self::Cpu => ("broker.cpu-per-message", &["published.rate"]),
            Self::Memory => ("broker.memory", &["broker.cpu-per-message"]),
        }
    }
}

impl Proof {
    /// Creates an experiment in which one arm sets keys of the scenario.
    pub(super) fn of_keys(metric: ProofMetric, set: Vec<(&'static str, String)>) -> Self {
        let changed = Arm { set, broker: None };
        Self { metric, observed: Arm::default(), changed }
    }

    /// Creates an experiment in which one arm has other settings of the broker.
    pub(super) fn of_broker(metric: ProofMetric, broker: BrokerSettings) -> Self {
        let changed = Arm { set: Vec::new(), broker: Some(broker) };
        Self { metric, observed: Arm::default(), changed }
    }
}
