//! Findings: advice with its evidence.

use serde::{Deserialize, Serialize};

use super::SourceLevel;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Costs time or throughput.
    Warning,
    /// Connections will fail.
    Critical,
}

/// The rule behind a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingRule {
    /// Method, header and body of publishes travel in segments of their own.
    FrameByFrame,
    /// Small segments, many of them.
    SmallPackets,
    /// Nagle's algorithm waits for a delayed acknowledgement.
    DelayedAcknowledgement,
    /// A receiver had no room.
    ZeroWindow,
    /// The reader is slower than the writer.
    ReceiverLimited,
    /// The send buffer is too small.
    SendBufferLimited,
    /// The path is the limit.
    NetworkLimited,
    /// The application had nothing to send.
    ApplicationLimited,
    /// Every message is acknowledged by itself.
    AckPerMessage,
    /// The capture lost packets.
    CaptureLoss,
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Finding {
    /// Which rule.
    pub rule: FindingRule,
    /// How bad.
    pub severity: Severity,
    /// What was found, in a sentence.
    pub sentence: String,
    /// Where the evidence comes from. A report of an earlier version does not say; most is from packets.
    #[serde(default = "packets")]
    pub source: SourceLevel,
    /// The figures behind it, in words.
    pub evidence: String,
    /// What to do.
    pub fix: String,
    /// Connections that show it, `client -> broker`, the worst first, ten at most.
    pub connections: Vec<String>,
    /// How many connections show it.
    pub connections_in_all: u64,
    /// Numbers of packets that it rests on, ten at most.
    pub packets: Vec<u64>,
}

const fn packets() -> SourceLevel {
    SourceLevel::Packets
}
