//! The limit and the findings of each node's latest window, by the code of `check`.
//!
//! A window has CPU samples of seconds, and times off the CPU if they are recorded. A node that is asked adds alarms,
//! memory and rates of messages. Anything else that could show a limit is unread, so *unknown* is the usual answer.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use rabbitscope_check::case_of_profiles;
use rabbitscope_diagnosis::{
    Broker, Certainty, CheckReport, LimitKind, MessageRates, Severity, Subject, Use,
};
use rabbitscope_export::NodeLabels;
use rabbitscope_inside::{MessageCounters, NodeFigures};
use rabbitscope_probe::NodeWindow;

/// The judgement of a window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judgement {
    /// Kind of the limit.
    pub(crate) kind: LimitKind,
    /// Certainty of the limit.
    pub(crate) certainty: Certainty,
    /// Share of the time in which the node was at its limit, 0 to 1; 0 for *nothing* and *unknown*.
    pub(crate) share: f64,
    /// Number of findings by rule and severity.
    pub(crate) findings: BTreeMap<(String, Severity), u64>,
}

/// The latest judgements, by the node's pid.
#[derive(Debug, Default)]
pub(crate) struct Judgements {
    latest: HashMap<u32, Judgement>,
    /// The last two readings of the node's counters that differ.
    counters: HashMap<u32, Counters>,
}

/// The latest reading of a node's counters, and the rates since the one before.
#[derive(Clone, Copy, Debug)]
struct Counters {
    at: Instant,
    counted: MessageCounters,
    rates: MessageRates,
}

impl Judgements {
    /// Judges a window; `None` if it has no length. `reading` has the node's figures, if it is asked and answers.
    pub(crate) fn judge(
        &mut self,
        labels: &NodeLabels,
        window: &NodeWindow,
        reading: Option<&(Instant, NodeFigures)>,
    ) -> Option<CheckReport> {
        // The last window of a node may have no length.
        if window.profiles.is_empty() {
            return None;
        }
        let durations = window.profiles.iter().map(|profile| profile.capture.duration());
        let subject = Subject {
            node: labels.node.clone(),
            pid: Some(window.pid),
            duration: durations.max().unwrap_or(Duration::ZERO),
        };
        let mut case = case_of_profiles(subject, &window.profiles);
        if let Some((at, figures)) = reading {
            let rates = self.rates(window.pid, *at, figures.messages);
            case.broker = Ok(broker(labels, figures, rates));
        }
        let report = CheckReport::from_case(&case);
        self.latest.insert(window.pid, Judgement::from_report(&report));
        Some(report)
    }

    /// Returns the judgement of a node's latest window.
    pub(crate) fn of(&self, pid: u32) -> Option<&Judgement> {
        self.latest.get(&pid)
    }

    /// Keeps only recorded nodes, because the kernel may reuse a pid.
    pub(crate) fn retain(&mut self, is_recorded: impl Fn(u32) -> bool) {
        self.latest.retain(|&pid, _| is_recorded(pid));
        self.counters.retain(|&pid, _| is_recorded(pid));
    }

    /// Returns the rates between the latest two readings; none after the first.
    fn rates(&mut self, pid: u32, at: Instant, counted: Option<MessageCounters>) -> MessageRates {
        let Some(counted) = counted else { return MessageRates::default() };
        let before = self.counters.get(&pid).copied();
        let rates = match before {
            Some(before) if before.at == at => return before.rates,
            Some(before) => counted.rates_since(&before.counted, at.duration_since(before.at)),
            None => MessageRates::default(),
        };
        self.counters.insert(pid, Counters { at, counted, rates });
        rates
    }
}

impl Judgement {
    fn from_report(report: &CheckReport) -> Self {
        let limit = &report.limit;
        let mut findings = BTreeMap::new();
        for finding in &report.findings {
            *findings.entry((finding.rule.clone(), finding.severity)).or_default() += 1;
        }
        Self { kind: limit.kind, certainty: limit.certainty, share: limit.share, findings }
    }
}

fn broker(labels: &NodeLabels, figures: &NodeFigures, rates: MessageRates) -> Broker {
    let kinds = figures.memory_bytes.iter();
    let used: u64 = figures.memory_bytes.iter().map(|(_, bytes)| bytes).sum();
    Broker {
        version: labels.version.clone(),
        nodes: vec![labels.node.clone()],
        rates,
        connections: figures.connections,
        channels: figures.channels,
        consumers: figures.consumers,
        memory_bytes: kinds.map(|(kind, bytes)| ((*kind).to_owned(), *bytes)).collect(),
        memory: figures.memory_limit_bytes.map(|limit| Use { used, limit }),
        disk_free_bytes: figures.disk_free_bytes,
        alarms: figures.alarms.clone().unwrap_or_default(),
        ..Broker::default()
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{Profile, read_folded};

    use super::*;

    const PID: u32 = 7;

    /// A window of ten seconds, in which one process takes this share of a core.
    fn window(share: f64) -> NodeWindow {
        let samples = (190.0 * share).round();
        let mut profile: Profile =
            read_folded(format!("scheduler;rabbit_channel:init/1 {samples}").as_bytes()).unwrap();
        profile.capture.duration_nanos = 10_000_000_000;
        profile.capture.period_nanos = 1_000_000_000 / 19;
        for sample in &mut profile.samples {
            sample.labels.process = Some("<0.7.0>".into());
        }
        NodeWindow { pid: PID, profiles: vec![profile], ticks: 0, has_ended: false }
    }

    fn judged(share: f64, reading: Option<&(Instant, NodeFigures)>) -> Judgement {
        let mut judgements = Judgements::default();
        judgements.judge(&NodeLabels::default(), &window(share), reading);
        judgements.of(PID).unwrap().clone()
    }

    #[test]
    fn samples_alone_name_a_busy_process_and_never_nothing() {
        let busy = judged(0.97, None);
        assert_eq!((busy.kind, busy.certainty), (LimitKind::Process, Certainty::Likely));
        assert!((busy.share - 0.97).abs() < 0.02, "{busy:?}");
        let idle = judged(0.2, None);
        assert_eq!((idle.kind, idle.certainty), (LimitKind::Unknown, Certainty::Uncertain));
        assert!(idle.share.abs() < 1e-9 && idle.findings.is_empty(), "{idle:?}");
    }

    #[test]
    fn a_node_that_is_asked_adds_its_alarms() {
        let figures = |alarms: &[&str]| NodeFigures {
            alarms: Some(alarms.iter().map(|&alarm| alarm.to_owned()).collect()),
            memory_bytes: vec![("binary", 700), ("ets", 200)],
            memory_limit_bytes: Some(10_000),
            ..NodeFigures::default()
        };
        let now = Instant::now();
        let alarmed = judged(0.2, Some(&(now, figures(&["disk"]))));
        assert_eq!((alarmed.kind, alarmed.certainty), (LimitKind::Alarm, Certainty::Certain));
        let critical = ("disk-alarm".to_owned(), Severity::Critical);
        assert_eq!(alarmed.findings.get(&critical), Some(&1), "{alarmed:?}");
        let healthy = judged(0.2, Some(&(now, figures(&[]))));
        assert_eq!(healthy.kind, LimitKind::Unknown, "queues and schedulers are unread");
        assert!(healthy.findings.is_empty(), "{healthy:?}");
    }

    #[test]
    fn rates_are_those_between_two_readings() {
        let mut judgements = Judgements::default();
        let counted = |published| Some(MessageCounters { published, ..MessageCounters::default() });
        let now = Instant::now();
        let later = now + Duration::from_secs(10);
        assert_eq!(judgements.rates(PID, now, counted(100)).published, None);
        assert_eq!(judgements.rates(PID, later, counted(600)).published, Some(50.0));
        assert_eq!(judgements.rates(PID, later, counted(600)).published, Some(50.0));
        // A node that was started again counts from zero.
        let again = later + Duration::from_secs(10);
        assert_eq!(judgements.rates(PID, again, counted(3)).published, None);
        judgements.retain(|pid| pid != PID);
        assert!(judgements.counters.is_empty());
    }
}
