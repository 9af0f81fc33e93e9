//! The check of all load threads' observations: duplicates, order, and messages that were not delivered.

use rabbitscope_runs::{record::Verification, scenario::Scenario};
use rabbitscope_timing::Numbering;

use super::{
    delivery_order::DeliveryOrder,
    destinations::{Destination, destinations},
    findings::DeliveryFindings,
    queue_index::{QueueIndex, reads_all},
    sequence_tracker::SequenceTracker,
    shortfall::{Delivery, DeliveryPoint},
    verdict::{ShortfallByQueue, verdict},
    wants::Wants,
    window::{ROW, unwrap},
};
use crate::observation::{Observation, Reader};

/// Bits for the windows of all publishers together: 64 MiB.
const BUDGET_BITS: u64 = (64 * 8) << 20;

const WINDOW_MIN: u64 = 1 << 10;

const WINDOW_MAX: u64 = 1 << 20;

/// Bits of a sequence number that publishers report.
const PUBLISHER_BITS: u32 = 32;

/// Checks every message of a run.
pub struct Checker {
    numbering: Numbering,
    queues: QueueIndex,
    destinations: Vec<Destination>,
    wants: Wants,
    /// By publisher; absent until the first observation.
    trackers: Vec<Option<SequenceTracker>>,
    window: u64,
    delivery_order: DeliveryOrder,
    /// By consumer number: true if the consumer reads a stream from the beginning.
    reads_all: Vec<bool>,
    found: DeliveryFindings,
    told: DeliveryFindings,
}

impl Checker {
    /// Returns a checker for a scenario.
    pub fn new(scenario: &Scenario, numbering: Numbering) -> Self {
        let queues = QueueIndex::from_scenario(scenario);
        let destinations = destinations(scenario, &queues);
        let wants = Wants::from_scenario(scenario, &queues);
        let consumers = scenario.consumers.iter().flat_map(|group| {
            let reads_all = reads_all(group);
            (0..group.count).map(move |_| reads_all)
        });
        Self {
            numbering,
            trackers: destinations.iter().map(|_| None).collect(),
            window: window(&destinations, &queues, numbering),
            delivery_order: DeliveryOrder::default(),
            reads_all: consumers.collect(),
            found: DeliveryFindings::default(),
            told: DeliveryFindings::default(),
            queues,
            destinations,
            wants,
        }
    }

    /// Takes a batch of observations.
    pub fn observe(&mut self, batch: &[Observation]) {
        for observation in batch {
            match *observation {
                Observation::Accepted { publisher, first, count } => {
                    self.each(publisher, first, count, SequenceTracker::accept);
                }
                Observation::Republished { publisher, first, count } => {
                    self.each(publisher, first, count, SequenceTracker::republish);
                }
                Observation::Unaccounted { publisher, first, count } => {
                    self.each(publisher, first, count, SequenceTracker::doubt);
                }
                Observation::Returned { number } => {
                    let (publisher, low) = self.numbering.split(number);
                    let bits = self.numbering.sequence_bits();
                    if let Some(tracker) = self.tracker(publisher) {
                        tracker.take_back(unwrap(low, bits, tracker.end()));
                    }
                }
                Observation::Delivered { reader, first, count, redelivered } => {
                    for number in first..first.saturating_add(count) {
                        self.deliver(reader, number, redelivered);
                    }
                }
                Observation::Resubscribed { reader } => self.resubscribe(reader),
                Observation::Traced(_) => {}
            }
        }
    }

    fn each(&mut self, publisher: u32, first: u32, count: u32, act: fn(&mut SequenceTracker, u64)) {
        let Some(tracker) = self.tracker(publisher) else { return };
        let first = unwrap(first, PUBLISHER_BITS, tracker.end());
        (first..first + u64::from(count)).for_each(|sequence| act(tracker, sequence));
    }

    /// Returns the tracker of a publisher; absent if its messages carry no stamp.
    #[inline]
    fn tracker(&mut self, publisher: u32) -> Option<&mut SequenceTracker> {
        let at = publisher as usize;
        if *self.destinations.get(at)? == Destination::Unstamped {
            return None;
        }
        let rows = usize::try_from(self.window / ROW).unwrap_or(1);
        Some(self.trackers[at].get_or_insert_with(|| SequenceTracker::new(rows)))
    }

    #[inline]
    fn deliver(&mut self, reader: Reader, number: u32, redelivered: bool) {
        let (publisher, low) = self.numbering.split(number);
        let point = self.point(reader);
        let bits = self.numbering.sequence_bits();
        let Some(tracker) = self.tracker(publisher) else { return };
        let sequence = unwrap(low, bits, tracker.end());
        let delivery = tracker.deliver(point, sequence, redelivered);
        let found = &mut self.found;
        match delivery {
            Delivery::Fine => {}
            Delivery::Duplicate { republished } => {
                found.duplicates += 1;
                found.of_republished += u64::from(republished);
            }
            Delivery::ReadAgain => found.read_again += 1,
            Delivery::Unchecked => found.unchecked += 1,
        }
        if self.delivery_order.is_overtaken(reader, publisher, sequence) {
            found.out_of_order += 1;
            found.out_of_order_redelivered += u64::from(redelivered);
        }
    }

    fn point(&self, reader: Reader) -> DeliveryPoint {
        let Reader { queue, consumer } = reader;
        if !self.queues.kind(queue).is_stream {
            return DeliveryPoint { queue, consumer: None, joins_late: false };
        }
        let reads_all = self.reads_all.get(consumer as usize).copied().unwrap_or(false);
        DeliveryPoint { queue, consumer: Some(consumer), joins_late: !reads_all }
    }

    /// Notes that a consumer subscribes again, which resets the order.
    fn resubscribe(&mut self, reader: Reader) {
        self.delivery_order.forget(reader);
        // A queue delivers a message to one consumer only.
        if !self.queues.kind(reader.queue).is_stream {
            return;
        }
        for tracker in self.trackers.iter_mut().flatten() {
            tracker.resubscribe(reader.queue, reader.consumer);
        }
    }

    /// Returns the findings since the last call.
    pub fn news(&mut self) -> DeliveryFindings {
        let before = std::mem::replace(&mut self.told, self.found);
        DeliveryFindings {
            duplicates: self.found.duplicates - before.duplicates,
            out_of_order: self.found.out_of_order - before.out_of_order,
            ..DeliveryFindings::default()
        }
    }

    /// Returns the names of the queues, by number.
    pub fn queue_names(&self) -> &[String] {
        self.queues.names()
    }

    /// Returns the verdict. `depths` are the messages in each queue after all connections were closed; absent where
    /// unknown.
    pub fn finish(&self, depths: &[Option<u64>]) -> Verification {
        let mut shortfalls = ShortfallByQueue::new(&self.queues, depths);
        for (publisher, tracker) in self.trackers.iter().enumerate() {
            if let Some(tracker) = tracker {
                shortfalls.add(&self.destinations[publisher], tracker, (&self.wants, publisher));
            }
        }
        verdict(&shortfalls, self.found, self.window)
    }
}

/// Returns the number of messages in the window of a publisher: as many as the budget allows, and few enough to unwrap
/// sequence numbers.
fn window(destinations: &[Destination], queues: &QueueIndex, numbering: Numbering) -> u64 {
    let points = |destination: &Destination| match destination {
        Destination::Unstamped => 0,
        Destination::Somewhere => queues.names().len().max(1) as u64,
        Destination::Fixed(queues) => queues.len() as u64,
    };
    let bits: u64 = destinations.iter().map(|destination| 2 + 2 * points(destination)).sum();
    let fair = (BUDGET_BITS / bits.max(1)).clamp(WINDOW_MIN, WINDOW_MAX);
    let most = 1 << (numbering.sequence_bits() - 1);
    let window = fair.min(most);
    1 << window.ilog2()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    fn checker(text: &str) -> Checker {
        let text = format!("name = \"v\"\nrun = {{ duration = \"1s\", verify = true }}\n{text}");
        let scenario = scenario::parse(&text, "test", &[]).unwrap();
        let count = scenario.publishers.iter().map(|group| group.count).sum();
        Checker::new(&scenario, Numbering::new(count))
    }

    /// Two queues behind an exchange, two publishers, a consumer for one queue and two for the other.
    const FAN_OUT: &str = r#"
    queues = [{ name = "a", bindings = [{ exchange = "amq.fanout" }] }, { name = "b", bindings = [{ exchange = "amq.fanout" }] }]
    publishers = [{ exchange = "amq.fanout", count = 2, channels = 1 }]
    consumers = [{ queue = "a" }, { name = "more", queue = "b", count = 2 }]
    "#;

    fn accepted(publisher: u32, count: u32) -> Observation {
        Observation::Accepted { publisher, first: 0, count }
    }

    fn delivered(checker: &Checker, queue: u32, consumer: u32, message: (u32, u64)) -> Observation {
        Observation::Delivered {
            reader: Reader { queue, consumer },
            first: checker.numbering.join(message.0, message.1),
            count: 1,
            redelivered: false,
        }
    }

    #[test]
    fn every_queue_gets_every_message_and_consumers_compete() {
        let mut checker = checker(FAN_OUT);
        for publisher in 0..2 {
            let mut batch = vec![accepted(publisher, 100)];
            for sequence in 0..100 {
                batch.push(delivered(&checker, 0, 0, (publisher, sequence)));
                let competing = 1 + u32::try_from(sequence % 2).unwrap();
                batch.push(delivered(&checker, 1, competing, (publisher, sequence)));
            }
            checker.observe(&batch);
        }
        let sum = checker.finish(&[Some(0), Some(0)]);
        assert_eq!(sum.sentence, "Of 200 accepted messages 0 lost, 0 duplicates, 0 out of order.");
        assert_eq!(sum.window, WINDOW_MAX);
    }

    #[test]
    fn each_queue_answers_for_itself() {
        let mut checker = checker(FAN_OUT);
        let mut batch = vec![accepted(0, 100), accepted(1, 100)];
        (0..100).for_each(|sequence| batch.push(delivered(&checker, 0, 0, (0, sequence))));
        (0..90).for_each(|sequence| batch.push(delivered(&checker, 1, 1, (0, sequence))));
        checker.observe(&batch);
        let sum = checker.finish(&[Some(0), Some(4)]);
        // No message of the second publisher arrived anywhere. Only one queue answers for that.
        assert_eq!((sum.lost, sum.still_queued), (6 + 100, 4));
    }

    /// A stream of two groups of publishers, read by one who wants one group, and by one who wants all.
    #[test]
    fn a_filter_loses_no_messages() {
        let mut checker = checker(
            "queues = [{ name = \"s\", type = \"stream\" }]\n\
             [[publishers]]\nname = \"a\"\nqueue = \"s\"\nprotocol = \"stream\"\nfilter-values = [\"a\"]\n\
             [[publishers]]\nname = \"b\"\nqueue = \"s\"\nprotocol = \"stream\"\nfilter-values = [\"b\"]\n\
             [[consumers]]\nname = \"some\"\nqueue = \"s\"\nprotocol = \"stream\"\noffset = \"first\"\n\
             filter-values = [\"a\"]\n\
             [[consumers]]\nname = \"all\"\nqueue = \"s\"\nprotocol = \"stream\"\noffset = \"first\"\n",
        );
        let mut batch = vec![accepted(0, 100), accepted(1, 100)];
        for sequence in 0..100 {
            if sequence != 7 {
                batch.push(delivered(&checker, 0, 0, (0, sequence)));
            }
            batch.push(delivered(&checker, 0, 1, (0, sequence)));
        }
        // The reader with the filter has some others, which a broker sends along.
        batch.extend((0..3).map(|sequence| delivered(&checker, 0, 0, (1, sequence))));
        checker.observe(&batch);
        let sum = checker.finish(&[None]);
        assert_eq!((sum.lost, sum.still_queued), (1, 97), "the reader of all has none of `b`");
        (0..100).for_each(|sequence| {
            checker.observe(&[delivered(&checker, 0, 1, (1, sequence))]);
        });
        let sum = checker.finish(&[None]);
        assert_eq!((sum.lost, sum.still_queued, sum.not_judged), (1, 0, 0));
    }

    #[test]
    fn order_is_that_of_each_publisher_at_each_consumer() {
        let mut checker = checker(FAN_OUT);
        let order = [(1, (0, 5)), (2, (0, 3)), (1, (1, 0)), (2, (0, 4)), (1, (0, 6))];
        let batch: Vec<_> = order
            .iter()
            .map(|(consumer, message)| delivered(&checker, 1, *consumer, *message))
            .collect();
        checker.observe(&batch);
        assert_eq!(checker.news(), DeliveryFindings::default());
        checker.observe(&[delivered(&checker, 1, 2, (0, 2)), delivered(&checker, 1, 1, (0, 6))]);
        assert_eq!(
            checker.news(),
            DeliveryFindings { out_of_order: 1, duplicates: 1, ..DeliveryFindings::default() }
        );
        // A new subscription begins anew.
        let reader = Reader { queue: 1, consumer: 1 };
        checker.observe(&[Observation::Resubscribed { reader }, delivered(&checker, 1, 1, (0, 1))]);
        assert_eq!(checker.news(), DeliveryFindings::default());
    }

    #[test]
    fn numbers_wrap_around_without_harm() {
        let mut checker = checker(&FAN_OUT.replace("count = 2,", "count = 4000,"));
        let bits = checker.numbering.sequence_bits();
        assert_eq!(bits, 16);
        let all = 200_000;
        for sequence in 0..all {
            let accepted = Observation::Accepted {
                publisher: 7,
                first: u32::try_from(sequence).unwrap(),
                count: 1,
            };
            let batch = [accepted, delivered(&checker, 0, 0, (7, sequence))];
            checker.observe(if sequence == 70_000 { &batch[..1] } else { &batch });
        }
        let sum = checker.finish(&[Some(0), Some(0)]);
        assert_eq!((sum.accepted, sum.lost, sum.duplicates, sum.out_of_order), (all, 1, 0, 0));
    }

    #[test]
    fn windows_share_what_memory_there_is() {
        fn check(count: u32, expected: u64) {
            let publishers = format!("count = {count},");
            assert_eq!(checker(&FAN_OUT.replace("count = 2,", &publishers)).window, expected);
        }
        check(1, 1 << 20);
        check(1000, 1 << 16);
        check(16_000, 1 << 12);
    }

    /// The run is longer than the window, as real runs are. Its random events are the same in every test run.
    #[test]
    fn random_losses_and_duplicates_are_found() {
        let mut checker = checker(
            "queues = [{ name = \"q\" }]\npublishers = [{ queue = \"q\", count = 1000, channels = 1 }]\n\
             consumers = [{ queue = \"q\" }]",
        );
        let (mut random, mut lost, mut twice, mut late) = (7_u64, 0, 0, 0);
        let mut held: Vec<u64> = Vec::new();
        for sequence in 0..300_000_u64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let first = u32::try_from(sequence).unwrap();
            let mut batch = vec![Observation::Accepted { publisher: 0, first, count: 1 }];
            match random % 1000 {
                0 => lost += 1,
                1 => {
                    twice += 1;
                    batch.extend([delivered(&checker, 0, 0, (0, sequence)); 2]);
                }
                2 => held.push(sequence),
                _ => batch.push(delivered(&checker, 0, 0, (0, sequence))),
            }
            if held.len() == 5 {
                batch.extend(held.drain(..).map(|old| {
                    late += u64::from(old != sequence);
                    delivered(&checker, 0, 0, (0, old))
                }));
            }
            checker.observe(&batch);
        }
        let sum = checker.finish(&[Some(0)]);
        lost += held.len() as u64;
        // Each held message comes after the last message or after another held one.
        assert_eq!(
            (sum.lost, sum.duplicates, sum.not_judged),
            (lost, twice, 0),
            "{}",
            sum.sentence
        );
        assert!(sum.out_of_order >= late * 9 / 10 && sum.out_of_order <= late, "{}", sum.sentence);
    }
}
