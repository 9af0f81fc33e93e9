//! The programs whose command lines become scenarios.

/// A program that puts load on brokers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Program {
    /// PerfTest, for AMQP 0-9-1.
    #[default]
    PerfTest,
    /// Stream PerfTest, for the stream protocol.
    StreamPerfTest,
    /// omq, for any protocol.
    Omq,
}

impl Program {
    /// Returns the name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PerfTest => "PerfTest",
            Self::StreamPerfTest => "Stream PerfTest",
            Self::Omq => "omq",
        }
    }

    /// Returns the name of the option of `run` that converts its command lines.
    pub fn converter(self) -> &'static str {
        match self {
            Self::PerfTest => "--from-perftest",
            Self::StreamPerfTest => "--from-stream-perf-test",
            Self::Omq => "--from-omq",
        }
    }

    /// Returns the name of the program's file.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::PerfTest => "perf-test",
            Self::StreamPerfTest => "stream-perf-test",
            Self::Omq => "omq",
        }
    }
}
