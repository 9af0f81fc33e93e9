//! Packets and sockets of the node.

use std::{
    fmt::Write as _,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use rabbitscope_capture::{BrokerPorts, LiveCapture, LiveOptions, capture_listening};
use rabbitscope_diagnosis::{CaptureEnd, Part, Source, Unread};
use rabbitscope_machine::thread_cpu_nanos;
use rabbitscope_probe::{
    connecting_ports, listening_ports,
    packets::{CaptureInterface, MAX_PORTS, PacketError},
};
use rabbitscope_wire::{
    analyzer::AnalyzerOptions,
    report::{PacketReport, SourceLevel},
};
use rabbitscope_workload::{Flows, Observer};

use crate::{
    pending::Unready,
    refusal::{from_text, missing_rights, refused},
    span::Span,
};

/// CPU time for the capture, as a share of one core over the whole check. A busy node needs the CPUs itself.
const CPU_SHARE: f64 = 0.2;

/// Interval of looks at the CPU time.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// A capture.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) report: PacketReport,
    /// The end, if it came before that of the span.
    pub(crate) end: Option<CaptureEnd>,
    /// The load of the clients.
    pub(crate) flows: Flows,
}

/// Captures within the span. Ends before it when the budget of CPU time is spent.
pub(crate) fn read(
    pid: u32,
    (span, duration): (&Span, Duration),
    unready: Unready,
) -> Part<Captured> {
    let options = live_options(pid)?;
    drop(unready);
    span.wait_for_begin();
    let mut budget = Budget::new(duration.mul_f64(CPU_SHARE));
    let mut captured = Duration::ZERO;
    let mut is_over = |elapsed: Duration| {
        captured = elapsed;
        span.is_over() || budget.is_spent(elapsed)
    };
    let analyzer = AnalyzerOptions::new(options.subject.clone());
    // The span ends the capture, and shortens the check as well. So it is no reason for an early end.
    let stop = AtomicBool::new(false);
    let looked = capture_listening(&options, analyzer, Observer::default(), &stop, &mut is_over);
    let (LiveCapture { mut report, cut_short }, observer) =
        looked.map_err(|error| unread(&error))?;
    if let Some(after) = budget.spent_after {
        note_end(&mut report, after);
    }
    let end = early_end(budget.spent_after, cut_short.as_deref(), captured);
    Ok(Captured { report, end, flows: observer.finish() })
}

fn unread(error: &anyhow::Error) -> Unread {
    match error.downcast_ref() {
        Some(PacketError::NoRightToCapture) => {
            missing_rights(Source::Packets, "CAP_NET_RAW missing")
        }
        _ => from_text(Source::Packets, &format!("{error:#}")),
    }
}

/// Returns the end of a capture that the budget or a failure ended. A failure has the time before its reason.
fn early_end(
    spent_after: Option<Duration>,
    failure: Option<&str>,
    captured: Duration,
) -> Option<CaptureEnd> {
    let (after, reason) = match (spent_after, failure) {
        (Some(after), _) => (after, "more would take too much CPU time"),
        (None, Some(reason)) => {
            let known = reason.strip_prefix("after ").and_then(|rest| rest.split_once(": "));
            (captured, known.map_or(reason, |(_, reason)| reason))
        }
        (None, None) => return None,
    };
    Some(CaptureEnd { seconds: after.as_secs_f64(), reason: reason.to_owned() })
}

/// CPU time of the calling thread, and its limit.
#[derive(Debug)]
struct Budget {
    most: Duration,
    looked: Option<Instant>,
    /// Time of the capture when the limit was reached.
    spent_after: Option<Duration>,
}

impl Budget {
    fn new(most: Duration) -> Self {
        Self { most, looked: None, spent_after: None }
    }

    /// Looks at the CPU time now and then. `elapsed` is the time of the capture.
    fn is_spent(&mut self, elapsed: Duration) -> bool {
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK_INTERVAL) {
            self.looked = Some(Instant::now());
            self.look(thread_cpu_nanos().map(Duration::from_nanos), elapsed);
        }
        self.spent_after.is_some()
    }

    fn look(&mut self, used: Option<Duration>, elapsed: Duration) {
        if used.is_some_and(|used| used > self.most) {
            self.spent_after = self.spent_after.or(Some(elapsed));
        }
    }
}

/// Notes the early end where the report names its sources.
fn note_end(report: &mut PacketReport, after: Duration) {
    for source in report.sources.iter_mut().filter(|source| source.level != SourceLevel::Writes) {
        let seconds = after.as_secs_f64();
        let _ = write!(source.note, ", for {seconds:.1} s: more would take too much CPU time");
    }
}

fn live_options(pid: u32) -> Part<LiveOptions> {
    let ports = listening_ports(pid).map_err(|error| refused(Source::Packets, &error))?;
    let listed: Vec<String> = ports.iter().map(u16::to_string).collect();
    let subject = format!("the node with pid {pid}, ports {}", listed.join(", "));
    let outgoing = connecting_ports(pid, &ports, MAX_PORTS).unwrap_or_default();
    let ports =
        BrokerPorts::new(ports).map_err(|error| from_text(Source::Packets, &error.to_string()))?;
    let ports = ports.with_outgoing(outgoing);
    Ok(LiveOptions { subject, ports, pid: Some(pid), interface: CaptureInterface::Any })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_spent_stays_so() {
        let mut budget = Budget::new(Duration::from_secs(3));
        let seconds = Duration::from_secs;
        budget.look(Some(seconds(2)), seconds(4));
        budget.look(None, seconds(5));
        assert_eq!(budget.spent_after, None);
        budget.look(Some(seconds(4)), seconds(6));
        budget.look(Some(seconds(5)), seconds(7));
        assert_eq!(budget.spent_after, Some(seconds(6)));
        assert!(budget.is_spent(seconds(8)));
    }

    #[test]
    fn an_early_end_has_time_and_reason() {
        let end = |spent: Option<u64>, failure| {
            early_end(spent.map(Duration::from_secs), failure, Duration::from_secs(9))
                .map(|end| (end.seconds, end.reason))
        };
        assert_eq!(end(None, None), None);
        let too_much = "more would take too much CPU time".to_owned();
        assert_eq!(end(Some(4), None), Some((4.0, too_much)));
        let down = || "the interface is down".to_owned();
        assert_eq!(end(None, Some("after 9.0 s: the interface is down")), Some((9.0, down())));
        assert_eq!(end(None, Some("the interface is down")), Some((9.0, down())));
    }
}
