//! Packets and sockets of the node.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use rabbitscope_capture::{BrokerPorts, LiveOptions, capture};
use rabbitscope_diagnosis::{Part, Source};
use rabbitscope_machine::thread_cpu_nanos;
use rabbitscope_probe::{
    connecting_ports, listening_ports,
    packets::{CaptureInterface, MAX_PORTS, PacketError},
};
use rabbitscope_wire::{
    analyzer::AnalyzerOptions,
    report::{PacketReport, SourceLevel},
};

use crate::{
    pending::Unready,
    refusal::{from_text, missing_rights, refused},
    span::Span,
};

/// CPU time for the capture, as a share of one core over the whole check. A busy node needs the CPUs itself.
const CPU_SHARE: f64 = 0.2;

/// Interval of looks at the CPU time.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Captures within the span. Ends before it when the budget of CPU time is spent.
pub(crate) fn read(
    pid: u32,
    (span, duration): (&Span, Duration),
    unready: Unready,
) -> Part<PacketReport> {
    let options = live_options(pid)?;
    drop(unready);
    span.wait_for_begin();
    let mut budget = Budget::new(duration.mul_f64(CPU_SHARE));
    let mut is_over = |elapsed: Duration| span.is_over() || budget.is_spent(elapsed);
    let analyzer = AnalyzerOptions::new(options.subject.clone());
    let looked = capture(&options, analyzer, None, span.over(), &mut is_over);
    let mut report =
        looked.map(|looked| looked.report).map_err(|error| match error.downcast_ref() {
            Some(PacketError::NoRightToCapture) => {
                missing_rights(Source::Packets, "CAP_NET_RAW missing")
            }
            _ => from_text(Source::Packets, &format!("{error:#}")),
        })?;
    if let Some(after) = budget.spent_after {
        note_end(&mut report, after);
    }
    Ok(report)
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
}
