//! The ends of the end-to-end latency: delivered, processed, settled. Determines the ends that a scenario
//! distinguishes, and the end that a limit means.

use super::{ConsumerGroup, Scenario};

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

    /// Returns the latency of `run.json` that a limit or a metric of this name means. `end-to-end` alone means until
    /// processed: a message that waits in the consumer has not arrived.
    pub fn recorded(self, name: &'static str) -> &'static str {
        match name {
            "settled" if !self.settled => self.recorded("processed"),
            "settled-intended" if !self.settled => self.recorded("processed-intended"),
            "end-to-end" | "processed" if self.processed => "processed",
            "end-to-end-intended" | "processed-intended" if self.processed => "processed-intended",
            "delivered" | "processed" => "end-to-end",
            "delivered-intended" | "processed-intended" => "end-to-end-intended",
            other => other,
        }
    }

    /// Describes the end of an end-to-end latency of this name; absent for other names.
    pub fn in_words(self, name: &str) -> Option<&'static str> {
        let is_open = matches!(name, "end-to-end" | "end-to-end-intended");
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
        self.rate.is_some() || self.is_processing()
    }

    /// Returns whether a message may be settled later than its processing begins.
    pub fn settles_later(&self) -> bool {
        !self.auto_ack && (self.starts_later() || self.multi_ack_every > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{LATENCIES, parse};

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
            for name in LATENCIES {
                let recorded = ends.recorded(name);
                assert_eq!(ends.recorded(name).ends_with("-intended"), name.ends_with("-intended"));
                assert!(!recorded.starts_with("delivered"), "{name}");
                assert!(processed || !recorded.starts_with("processed"), "{name}");
                assert!(settled || !recorded.starts_with("settled"), "{name}");
            }
        }
        let apart = LatencyEnds { processed: true, settled: true };
        assert_eq!(apart.recorded("end-to-end-intended"), "processed-intended");
        assert_eq!(apart.recorded("delivered"), "end-to-end");
        assert_eq!(LatencyEnds::default().recorded("settled"), "end-to-end");
        assert_eq!(apart.in_words("end-to-end"), Some("until processed"));
        assert_eq!(apart.in_words("settled"), None);
    }
}
