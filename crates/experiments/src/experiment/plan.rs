//! The plan of an experiment, checked before anything runs.

use std::time::Duration;

use rabbitscope_runner::run;
use rabbitscope_runs::{
    experiment::{Arm, Experiment, RunMetric, Side, order_of_round},
    record::{ExpectedRate, Metric, Needs},
    scenario::{BrokerSpec, LatencyEnds, Scenario},
};
use rabbitscope_terminal::UsageError;
use rabbitscope_text::display_duration;

/// Overhead of a run besides its load: start and end of a broker, measured on two CPUs.
const AROUND_A_RUN: Duration = Duration::from_secs(7);

/// Overhead of each further node of a cluster, measured on the same machine: three nodes were up after 30 s.
const FURTHER_NODE: Duration = Duration::from_secs(12);

/// Number of runs, and their total time, that need no confirmation.
const MAX_UNASKED_RUNS: u64 = 1000;
const MAX_UNASKED_TIME: Duration = Duration::from_secs(24 * 3600);

/// An experiment whose arms are known to be possible.
#[derive(Debug)]
pub struct Plan {
    /// The experiment as requested.
    pub experiment: Experiment,
    /// The arms with their scenarios, in the order of the experiment.
    pub arms: Vec<PlannedArm>,
    /// Text of the experiment, for the directory.
    pub text: String,
}

/// An arm and its scenario.
#[derive(Debug)]
pub struct PlannedArm {
    /// The arm as requested.
    pub arm: Arm,
    /// The resulting scenario.
    pub scenario: Scenario,
}

impl Plan {
    /// Refuses an invalid plan before anything runs.
    pub fn check(&self) -> anyhow::Result<()> {
        for planned in &self.arms {
            run::check(&planned.scenario)
                .map_err(|error| error.context(format!("arm {}", planned.arm.name)))?;
            self.require_primary(planned)?;
        }
        self.require_broker_of_arms()?;
        self.require_changes()?;
        if self.experiment.design.live.is_some() {
            self.require_code_alone()?;
        }
        Ok(())
    }

    fn require_primary(&self, planned: &PlannedArm) -> Result<(), UsageError> {
        let primary = self.experiment.metrics[0];
        match lacks(primary, &planned.scenario) {
            None => Ok(()),
            Some(needed) => Err(UsageError(format!(
                "arm {}: no run of this scenario has {primary}, the primary metric; it needs {needed}",
                planned.arm.name
            ))),
        }
    }

    /// Refuses changes of the broker that would be lost, because all arms share an existing one.
    fn require_broker_of_arms(&self) -> Result<(), UsageError> {
        let changes_broker = |arm: &Arm| {
            !arm.files.is_empty() || arm.overrides.iter().any(|text| text.starts_with("broker."))
        };
        let lost = self.arms.iter().find(|planned| {
            let has_own = matches!(planned.scenario.broker.spec, BrokerSpec::Throwaway(_));
            !has_own && changes_broker(&planned.arm)
        });
        match lost {
            None => Ok(()),
            Some(lost) => Err(UsageError(format!(
                "arm {} changes the broker, but all arms use the one at the URI: omit --uri and broker.uri",
                lost.arm.name
            ))),
        }
    }

    /// Refuses an arm equal to the baseline, which could be mistaken for a result.
    fn require_changes(&self) -> Result<(), UsageError> {
        let texts: Vec<String> = self.arms.iter().map(|arm| arm.scenario.to_toml()).collect();
        let same = self
            .arms
            .iter()
            .zip(&texts)
            .skip(1)
            .find(|(planned, text)| !planned.arm.control && **text == texts[0]);
        match same {
            None => Ok(()),
            Some((planned, _)) => Err(UsageError(format!(
                "arm {} changes nothing: its scenario is that of {}",
                planned.arm.name, self.arms[0].arm.name
            ))),
        }
    }

    /// Refuses turns that differ in more than code, the only part that can be switched in a running broker. Also
    /// refuses latencies and profiles, because a turn only has rates and costs.
    fn require_code_alone(&self) -> Result<(), UsageError> {
        let latency = |metric: &&RunMetric| matches!(metric, RunMetric::Load(Metric::Latency(..)));
        if let Some(metric) = self.experiment.metrics.iter().find(latency) {
            return Err(UsageError(format!(
                "design.live: {metric} is unknown for turns of one run; compare rates and CPU, or omit `live`"
            )));
        }
        if self.arms[0].scenario.profile.is_some() {
            return Err(UsageError(
                "design.live: a profile of the run would mix all arms; remove [profile]".to_owned(),
            ));
        }
        let without_code = |planned: &PlannedArm| {
            let mut scenario = planned.scenario.clone();
            let BrokerSpec::Throwaway(broker) = &mut scenario.broker.spec else { return None };
            (broker.patches, broker.modules) = (Vec::new(), Vec::new());
            Some(scenario)
        };
        let Some(baseline) = without_code(&self.arms[0]) else {
            return Err(UsageError(
                "design.live: code is switched only on throwaway brokers; remove `uri`".to_owned(),
            ));
        };
        let other = self.arms.iter().find(|arm| without_code(arm).as_ref() != Some(&baseline));
        match other {
            None => Ok(()),
            Some(other) => Err(UsageError(format!(
                "design.live: arm {} may change only `patches` and `modules`, because a running broker can switch \
                 nothing else",
                other.arm.name
            ))),
        }
    }

    /// Returns the runs of a round: one per arm, and more of the baseline if it is an anchor.
    pub(super) fn runs_of_a_round(&self) -> usize {
        self.order().len()
    }

    /// Returns the arms of the first round in their order.
    fn order(&self) -> Vec<usize> {
        let Experiment { seed, design, .. } = &self.experiment;
        order_of_round(*seed, 1, self.arms.len(), design.anchor_every)
    }

    /// Returns the number of all runs.
    pub fn runs(&self) -> u64 {
        self.runs_of_a_round() as u64 * u64::from(self.experiment.design.rounds)
    }

    /// Returns the duration of a round; absent if a scenario has no fixed end.
    pub(super) fn time_of_a_round(&self) -> Option<Duration> {
        if let Some(live) = self.experiment.design.live {
            let turns = self.arms.len() as u64 * u64::from(live.slice_seconds);
            let around = around(&self.arms[0].scenario);
            let around = around * live.brokers / self.experiment.design.rounds;
            return Some(Duration::from_secs(turns) + around);
        }
        // The number of steps of a search is not known in advance.
        if self.experiment.design.capacity.is_some() {
            return None;
        }
        let order = self.order().into_iter();
        let scenarios = order.map(|arm| &self.arms[arm].scenario);
        scenarios.map(|scenario| Some(scenario.run.duration? + around(scenario))).sum()
    }

    /// Describes the number of runs and their duration.
    pub fn size(&self) -> String {
        let rounds = self.experiment.design.rounds;
        let time = self.time_of_a_round().map_or_else(
            || "for an unknown time".to_owned(),
            |round| format!("about {}", rough(round * rounds)),
        );
        let design = &self.experiment.design;
        let unit = match (&design.live, &design.capacity) {
            (Some(_), _) => "turns",
            (_, Some(_)) => "searches",
            _ => "runs",
        };
        format!("{} arms in {rounds} rounds are {} {unit}, {time}", self.arms.len(), self.runs())
    }

    /// Names a metric as in results. An end-to-end latency gets its end if arms distinguish delivery and processing.
    pub(super) fn name_of(&self, metric: RunMetric) -> String {
        let mut ends = self.arms.iter().map(|arm| LatencyEnds::from_scenario(&arm.scenario));
        let apart = ends.find(|ends| ends.processed);
        match (metric, apart) {
            (RunMetric::Load(Metric::Latency(latency, _)), Some(ends)) => {
                let end = ends.in_words(latency).map(|end| format!(", {end}"));
                metric.to_string() + &end.unwrap_or_default()
            }
            _ => metric.to_string(),
        }
    }

    /// Returns whether the experiment is large enough to need a confirmation.
    pub fn is_large(&self) -> bool {
        let time = self.time_of_a_round().unwrap_or_default() * self.experiment.design.rounds;
        self.runs() > MAX_UNASKED_RUNS || time > MAX_UNASKED_TIME
    }
}

/// Returns the overhead of a run besides its load.
fn around(scenario: &Scenario) -> Duration {
    match &scenario.broker.spec {
        BrokerSpec::Throwaway(broker) => AROUND_A_RUN + FURTHER_NODE * (broker.nodes.max(1) - 1),
        BrokerSpec::Existing { .. } => AROUND_A_RUN,
    }
}

/// Rounds to the minute, or to the second for short times.
pub(super) fn rough(time: Duration) -> String {
    let seconds = time.as_secs();
    let rounded = if seconds > 90 { seconds.div_ceil(60) * 60 } else { seconds.max(1) };
    display_duration(Duration::from_secs(rounded)).to_string()
}

/// Returns the part that a scenario lacks for a metric.
fn lacks(metric: RunMetric, scenario: &Scenario) -> Option<&'static str> {
    let has_confirms = scenario.publishers.iter().any(|group| group.confirm_window.is_some());
    let consumers = (!scenario.consumers.is_empty(), "[[consumers]]");
    let (has_it, needed) = match metric {
        RunMetric::Load(Metric::Rate(ExpectedRate::Published))
        | RunMetric::Items(Side::Published)
        | RunMetric::ItemBytes(Side::Published) => {
            (!scenario.publishers.is_empty(), "[[publishers]]")
        }
        RunMetric::Items(Side::Consumed) | RunMetric::ItemBytes(Side::Consumed) => consumers,
        RunMetric::Load(metric) => match metric.needs() {
            Needs::Confirms => (has_confirms, "publishers with a `confirm-window`"),
            Needs::Deliveries | Needs::Consuming => consumers,
            Needs::Requests => (!scenario.requests.is_empty(), "[[requests]]"),
            Needs::Nothing | Needs::Verify | Needs::Churn => (true, ""),
        },
        RunMetric::Capacity => {
            (!scenario.publishers.is_empty(), "[[publishers]], whose rate the search varies")
        }
        _ => (true, ""),
    };
    (!has_it).then_some(needed)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::{experiment, scenario};

    use super::*;

    const SCENARIO: &str = "name = \"a\"\nrun = { duration = \"20s\" }\nqueues = [{ name = \"q\" }]\n\
                            publishers = [{ queue = \"q\" }]\n";

    fn plan(primary: &str, larger: &str) -> Plan {
        let text = format!(
            "name = \"e\"\nbase = \"a.toml\"\nprimary = \"{primary}\"\n[[arms]]\nname = \"small\"\n\
             [[arms]]\nname = \"large\"\nset = ['{larger}']\n"
        );
        let experiment = experiment::parse(&text, "e.toml", &[]).unwrap();
        let arms = experiment.arms.iter().map(|arm| PlannedArm {
            arm: arm.clone(),
            scenario: scenario::parse(SCENARIO, "a.toml", &arm.overrides).unwrap(),
        });
        Plan { arms: arms.collect(), experiment, text }
    }

    #[test]
    fn what_no_run_can_show_is_refused() {
        plan("published.rate", "publishers.0.size=\"100B\"").check().unwrap();
        let refused =
            plan("confirm.p99", "publishers.0.size=\"100B\"").check().unwrap_err().to_string();
        assert!(
            refused.contains("arm small: no run") && refused.contains("confirm-window"),
            "{refused}"
        );
        let refused =
            plan("published.rate", "publishers.0.count=1").check().unwrap_err().to_string();
        assert!(refused.contains("arm large changes nothing"), "{refused}");
    }

    #[test]
    fn the_size_is_known_beforehand() {
        let mut plan = plan("published.rate", "publishers.0.size=\"100B\"");
        assert_eq!(plan.size(), "3 arms in 20 rounds are 60 runs, about 27m");
        assert!(!plan.is_large());
        plan.experiment.design.rounds = 400;
        assert!(plan.is_large());
    }
}
