//! The ends of the end-to-end latency: delivered, processed, settled. Determines the ends that a scenario
//! distinguishes, and the end that a limit means.

use super::{ConsumerGroup, Scenario};
use crate::record::{ExpectedLatency, Latency};

/// Ends that come later than delivery, so that a run records them separately. An end that does not come later has the
/// latency of the previous end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyEnds {
    /// A consumer starts on some messages later than it reads them.
    pub processed: bool,
    /// A consumer settles some messages later than it starts on them.
    pub settled: bool,
}

impl LatencyEnds {
    /// Returns the ends that some group of consumers distinguishes.
    pub fn from_scenario(scenario: &Scenario) -> Self {
        let groups = &scenario.consumers;
        Self {
            processed: groups.iter().any(ConsumerGroup::starts_later),
            settled: groups.iter().any(ConsumerGroup::settles_later),
        }
    }

    /// Returns the latency of the run that a limit or a metric means. `end-to-end` alone means until
    /// processed: a message that waits in the consumer has not arrived.
    pub fn recorded(self, latency: ExpectedLatency) -> Latency {
        use ExpectedLatency as Expected;
        match latency {
            Expected::Confirm => Latency::Confirm,
            Expected::ConfirmIntended => Latency::ConfirmIntended,
            Expected::RoundTrip => Latency::RoundTrip,
            Expected::RoundTripIntended => Latency::RoundTripIntended,
            Expected::ClientDelay => Latency::ClientDelay,
            Expected::Settled if self.settled => Latency::Settled,
            Expected::SettledIntended if self.settled => Latency::SettledIntended,
            Expected::EndToEnd | Expected::Processed | Expected::Settled if self.processed => {
                Latency::Processed
            }
            Expected::EndToEndIntended
            | Expected::ProcessedIntended
            | Expected::SettledIntended
                if self.processed =>
            {
                Latency::ProcessedIntended
            }
            Expected::Delivered | Expected::EndToEnd | Expected::Processed | Expected::Settled => {
                Latency::EndToEnd
            }
            Expected::DeliveredIntended
            | Expected::EndToEndIntended
            | Expected::ProcessedIntended
            | Expected::SettledIntended => Latency::EndToEndIntended,
        }
    }

    /// Describes the end of an end-to-end latency; absent for other latencies.
    pub fn in_words(self, latency: ExpectedLatency) -> Option<&'static str> {
        let is_open =
            matches!(latency, ExpectedLatency::EndToEnd | ExpectedLatency::EndToEndIntended);
        is_open.then_some(if self.processed {
            "until processed"
        } else {
            "until delivered, which is when consumers start on a message"
        })
    }
}

impl ConsumerGroup {
    /// Returns whether a message may wait in the consumer before it is processed: the group has a rate or a processing
    /// time.
    pub fn starts_later(&self) -> bool {
        self.rate.is_some() || !self.processing_time.is_zero() || !self.processing_times.is_empty()
    }

    /// Returns whether a message may be settled later than its processing begins.
    pub fn settles_later(&self) -> bool {
        !self.auto_ack && (self.starts_later() || self.multi_ack_every > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;

    fn ends(consumers: &str) -> LatencyEnds {
        let text = format!(
            "name = \"t\"\nrun.duration = \"1s\"\nqueues = [{{ name = \"q\" }}]\n\
             [[consumers]]\nqueue = \"q\"\n{consumers}"
        );
        LatencyEnds::from_scenario(&parse(&text, "test", &[]).unwrap())
    }

    #[test]
    fn ends_differ_where_a_message_waits() {
        let check = |consumers: &str, processed, settled| {
            assert_eq!(ends(consumers), LatencyEnds { processed, settled }, "{consumers}");
        };
        check("", false, false);
        check("prefetch = 1000", false, false);
        check("prefetch = 1000\nmulti-ack-every = 10", false, true);
        check("auto-ack = true", false, false);
        check("rate = 10\nprefetch = 5", true, true);
        check("prefetch = 5\nprocessing-times = [{ time = \"1ms\", for = \"1s\" }]", true, true);
    }

    #[test]
    fn every_name_means_one_that_is_recorded() {
        for (processed, settled) in [(false, false), (false, true), (true, false), (true, true)] {
            let ends = LatencyEnds { processed, settled };
            for latency in ExpectedLatency::ALL {
                let (name, recorded) = (latency.name(), ends.recorded(*latency).name());
                assert_eq!(recorded.ends_with("-intended"), name.ends_with("-intended"));
                assert!(!recorded.starts_with("delivered"), "{name}");
                assert!(processed || !recorded.starts_with("processed"), "{name}");
                assert!(settled || !recorded.starts_with("settled"), "{name}");
            }
        }
        let apart = LatencyEnds { processed: true, settled: true };
        assert_eq!(apart.recorded(ExpectedLatency::EndToEndIntended), Latency::ProcessedIntended);
        assert_eq!(apart.recorded(ExpectedLatency::Delivered), Latency::EndToEnd);
        let same = LatencyEnds::default();
        assert_eq!(same.recorded(ExpectedLatency::Settled), Latency::EndToEnd);
        assert_eq!(apart.in_words(ExpectedLatency::EndToEnd), Some("until processed"));
        assert_eq!(apart.in_words(ExpectedLatency::Settled), None);
    }
}
