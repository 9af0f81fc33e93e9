//! The measured latencies, with their names and definitions.

/// The measured latencies. `…Intended` starts at the scheduled time. `ClientDelay` lasts from the scheduled time to the
/// send time. The others start at the send time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latency {
    Confirm,
    ConfirmIntended,
    EndToEnd,
    EndToEndIntended,
    Processed,
    ProcessedIntended,
    Settled,
    SettledIntended,
    RoundTrip,
    RoundTripIntended,
    /// The part of an intended latency that the client itself causes.
    ClientDelay,
}

impl Latency {
    pub(crate) const ALL: [Self; 11] = [
        Self::Confirm,
        Self::ConfirmIntended,
        Self::EndToEnd,
        Self::EndToEndIntended,
        Self::Processed,
        Self::ProcessedIntended,
        Self::Settled,
        Self::SettledIntended,
        Self::RoundTrip,
        Self::RoundTripIntended,
        Self::ClientDelay,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::ConfirmIntended => "confirm-intended",
            Self::EndToEnd => "end-to-end",
            Self::EndToEndIntended => "end-to-end-intended",
            Self::Processed => "processed",
            Self::ProcessedIntended => "processed-intended",
            Self::Settled => "settled",
            Self::SettledIntended => "settled-intended",
            Self::RoundTrip => "round-trip",
            Self::RoundTripIntended => "round-trip-intended",
            Self::ClientDelay => "client-delay",
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Confirm => "from handing a message to the socket to reading its confirm",
            Self::ConfirmIntended => "from the time on the schedule to reading the confirm",
            Self::EndToEnd => "from handing a message to the socket to reading its delivery",
            Self::EndToEndIntended => "from the time on the schedule to reading the delivery",
            Self::Processed => {
                "from handing a message to the socket to the start of its processing"
            }
            Self::ProcessedIntended => "from the time on the schedule to the start of processing",
            Self::Settled => "from handing a message to the socket to writing its acknowledgement",
            Self::SettledIntended => "from the time on the schedule to writing the acknowledgement",
            Self::RoundTrip => "from handing a request to the socket to reading its reply",
            Self::RoundTripIntended => "from the time on the schedule to reading the reply",
            Self::ClientDelay => {
                "the client's own part of the time from the schedule to handing a message to the socket"
            }
        }
    }
}
