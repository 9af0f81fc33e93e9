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
    /// Time from the schedule to the confirm, where a schedule says how many messages there are.
    Confirm,
    /// Time from the schedule to the consumer, in the same way.
    EndToEnd,
}

/// Settings of an arm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arm {
    /// Keys of the scenario, with values in TOML.
    pub(super) set: Vec<(String, String)>,
    /// Keys that the scenario has, and the arm has not.
    pub(super) removed: Vec<String>,
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
            Self::Confirm => {
                ("confirm-intended.p50", &["confirm-intended.p99", "broker.cpu-per-message"])
            }
            Self::EndToEnd => {
                ("end-to-end-intended.p50", &["end-to-end-intended.p99", "broker.cpu-per-message"])
            }
        }
    }
}

impl Arm {
    /// Returns the changes of the scenario, each as in `--set`.
    pub(super) fn overrides(&self) -> impl Iterator<Item = String> {
        let removed = self.removed.iter().map(|key| format!("!{key}"));
        removed.chain(self.set.iter().map(|(key, value)| format!("{key}={value}")))
    }

    /// Creates an arm that sets keys of the scenario.
    pub(super) fn of_keys(set: Vec<(&'static str, String)>) -> Self {
        let set = set.into_iter().map(|(key, value)| (key.to_owned(), value));
        Self { set: set.collect(), ..Self::default() }
    }
}

impl Proof {
    /// Creates an experiment in which one arm sets keys of the scenario.
    pub(super) fn of_keys(metric: ProofMetric, set: Vec<(&'static str, String)>) -> Self {
        let changed = Arm::of_keys(set);
        Self { metric, observed: Arm::default(), changed }
    }

    /// Creates an experiment in which one arm has other settings of the broker.
    pub(super) fn of_broker(metric: ProofMetric, broker: BrokerSettings) -> Self {
        let changed = Arm { broker: Some(broker), ..Arm::default() };
        Self { metric, observed: Arm::default(), changed }
    }
}
