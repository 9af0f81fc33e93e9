//! The observed load as a scenario.

use rabbitscope_runs::scenario::{self, ConsumerGroup, PublisherGroup, QueueSpec, Scenario};

use super::{arm::Arm, focus::Focus};

/// A scenario of the observed load, as `rabbitscope workload` writes it.
#[derive(Clone, Debug)]
pub struct BaseScenario {
    text: String,
    scenario: Scenario,
}

impl BaseScenario {
    /// File name beside the experiments.
    pub const FILE_NAME: &str = "observed-load.toml";

    /// Reads the text of a scenario. The error says which part no run can have.
    pub fn new(text: String) -> Result<Self, String> {
        let read = scenario::parse(&text, Self::FILE_NAME, &[]);
        let scenario = read.map_err(|error| format!("it is no valid scenario: {error}"))?;
        Ok(Self { text, scenario })
    }

    /// Returns the text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns whether the scenario is valid with the keys of an arm.
    pub(super) fn accepts(&self, arm: &Arm) -> bool {
        let plugins =
            arm.broker.as_ref().map(|broker| format!("broker.plugins={:?}", broker.plugins));
        let overrides: Vec<String> = arm.overrides().chain(plugins).collect();
        scenario::parse(&self.text, Self::FILE_NAME, &overrides).is_ok()
    }

    /// Returns the publishers of the finding's queues that fit, those with the most messages. Without known queues all
    /// are meant.
    pub(super) fn publishers(
        &self,
        focus: &Focus<'_>,
        fits: impl Fn(&PublisherGroup) -> bool,
    ) -> Option<(usize, &PublisherGroup)> {
        let messages = |group: &PublisherGroup| match group.rate {
            Some(rate) => rate * f64::from(group.count),
            None => f64::INFINITY,
        };
        let groups = self.scenario.publishers.iter().enumerate();
        groups
            .filter(|(_, group)| fits(group) && self.is_meant(focus, |spec| feeds(group, spec)))
            .max_by(|(_, one), (_, other)| messages(one).total_cmp(&messages(other)))
    }

    /// Returns the largest group of consumers of the finding's queues that fits.
    pub(super) fn consumers(
        &self,
        focus: &Focus<'_>,
        fits: impl Fn(&ConsumerGroup) -> bool,
    ) -> Option<(usize, &ConsumerGroup)> {
        let groups = self.scenario.consumers.iter().enumerate();
        groups
            .filter(|(_, group)| {
                fits(group) && self.is_meant(focus, |spec| spec.is_meant_by(&group.queue))
            })
            .max_by_key(|(_, group)| group.count)
    }

    /// Returns the queues of the finding that fit, the first ones without known queues.
    pub(super) fn queues(
        &self,
        focus: &Focus<'_>,
        fits: impl Fn(&QueueSpec) -> bool,
    ) -> Option<(usize, &QueueSpec)> {
        let mut specs = self.scenario.queues.iter().enumerate();
        specs.find(|(_, spec)| fits(spec) && self.is_meant(focus, |of| of.name == spec.name))
    }

    /// Returns whether an entry of queues with this property has one that the finding is about.
    fn is_meant(&self, focus: &Focus<'_>, is_used: impl Fn(&QueueSpec) -> bool) -> bool {
        let has_one =
            |spec: &QueueSpec| focus.queues.iter().any(|queue| spec.is_meant_by(&queue.name));
        let mut used = self.scenario.queues.iter().filter(|spec| is_used(spec));
        focus.queues.is_empty() || used.any(has_one)
    }
}

/// Returns whether publishers send to queues of an entry, by the default exchange or by a binding.
fn feeds(group: &PublisherGroup, spec: &QueueSpec) -> bool {
    match &group.queue {
        Some(queue) => spec.is_meant_by(queue),
        None => spec.bindings.iter().any(|binding| binding.exchange == group.exchange()),
    }
}
