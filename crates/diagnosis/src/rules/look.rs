//! Evidence with its source and time, and figures in words.

use rabbitscope_text::grouped_rate;

use crate::{
    case::{Case, Cpu, Flow, Host, Source, Waits},
    finding::Evidence,
};

/// An observation: its source and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    source: Source,
    lasted_nanos: u64,
}

impl Look {
    /// Returns the observation from inside the node.
    pub(crate) fn node(case: &Case) -> Self {
        let nanos = u64::try_from(case.subject.duration.as_nanos()).unwrap_or(u64::MAX);
        Self { source: Source::Node, lasted_nanos: nanos }
    }

    /// Returns the observation by samples of the CPU.
    pub(crate) fn cpu(cpu: &Cpu) -> Self {
        Self { source: Source::CpuProfile, lasted_nanos: nanos(cpu.seconds) }
    }

    /// Returns the observation of time off the CPU.
    pub(crate) fn waits(waits: &Waits) -> Self {
        Self { source: Source::OffCpuProfile, lasted_nanos: nanos(waits.seconds) }
    }

    /// Returns the observation of the machine.
    pub(crate) fn host(host: &Host) -> Self {
        Self { source: Source::Host, lasted_nanos: nanos(host.seconds) }
    }

    /// Returns the observation of packets for so many seconds.
    pub(crate) fn packets(seconds: f64) -> Self {
        Self { source: Source::Packets, lasted_nanos: nanos(seconds) }
    }

    /// Returns the observation of flow control.
    pub(crate) fn flow(flow: &Flow) -> Self {
        let lasted_nanos = flow.elapsed_ms.saturating_mul(1_000_000);
        Self { source: Source::Node, lasted_nanos }
    }

    /// Returns a figure over the whole time.
    pub(crate) fn says(self, figure: impl Into<String>) -> Evidence {
        let Self { source, lasted_nanos } = self;
        Evidence { source, figure: figure.into(), at_nanos: 0, lasted_nanos }
    }

    /// Returns a figure at the end of the time.
    pub(crate) fn ends(self, figure: impl Into<String>) -> Evidence {
        let Self { source, lasted_nanos } = self;
        Evidence { source, figure: figure.into(), at_nanos: lasted_nanos, lasted_nanos: 0 }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn nanos(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9) as u64
}

/// Formats a share: `12 %`, `0.4 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let decimals = usize::from(value.abs() < 9.95);
    finite(value, format!("{value:.decimals$} %"))
}

/// Formats CPU time: `0.27 cores`.
pub(crate) fn cores(cores: f64) -> String {
    finite(cores, format!("{cores:.2} cores"))
}

/// Formats a duration: `2.5 ms`.
pub(crate) fn millis(millis: f64) -> String {
    finite(millis, format!("{millis:.1} ms"))
}

/// Formats a mean count: `2.5 processes`.
pub(crate) fn mean(count: f64, noun: &str) -> String {
    finite(count, format!("{count:.1} {noun}"))
}

/// Formats a rate of bytes: `1,200 kB/s`.
pub(crate) fn kilobytes(bytes_per_second: f64) -> String {
    rate(bytes_per_second / 1e3, "kB")
}

/// Formats a rate: `1,200 messages/s`, `0.4 connections/s`.
pub(crate) fn rate(per_second: f64, noun: &str) -> String {
    if per_second.abs() < 9.95 {
        format!("{per_second:.1} {noun}/s")
    } else {
        finite(per_second, format!("{} {noun}/s", grouped_rate(per_second)))
    }
}

fn finite(value: f64, text: String) -> String {
    if value.is_finite() { text } else { "an unknown amount".to_owned() }
}
