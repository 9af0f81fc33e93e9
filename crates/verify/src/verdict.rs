//! The verdict of the verification: counts of lost, duplicated and reordered messages, and one sentence.

use rabbitscope_runs::record::Verification;

use super::{
    destinations::Destination, findings::DeliveryFindings, queue_index::QueueIndex,
    sequence_tracker::SequenceTracker, shortfall::Shortfall, wants::Wants,
};

/// Messages that did not arrive, by the queue that owes them.
pub(super) struct ShortfallByQueue<'a> {
    queues: &'a QueueIndex,
    depths: &'a [Option<u64>],
    missing: Vec<u64>,
    /// Messages missing from an unknown queue.
    missing_somewhere: u64,
    /// Unread messages at the end of streams.
    tail: u64,
    unjudged: u64,
    accepted: u64,
    unanswered: u64,
}

impl<'a> ShortfallByQueue<'a> {
    pub(super) fn new(queues: &'a QueueIndex, depths: &'a [Option<u64>]) -> Self {
        Self {
            queues,
            depths,
            missing: vec![0; queues.names().len()],
            missing_somewhere: 0,
            tail: 0,
            unjudged: 0,
            accepted: 0,
            unanswered: 0,
        }
    }

    /// Adds the shortfall of a publisher.
    pub(super) fn add(
        &mut self,
        destination: &Destination,
        tracker: &SequenceTracker,
        (wants, publisher): (&Wants, usize),
    ) {
        self.accepted += tracker.accepted_count();
        self.unanswered += tracker.doubted_count();
        self.unjudged += tracker.unjudged();
        let fixed =
            if let Destination::Fixed(queues) = destination { queues.as_slice() } else { &[] };
        let mut is_settled = false;
        for queue in fixed {
            // A queue without any delivery may have lost its binding before the load began.
            let is_ordered = self.queues.kind(*queue).is_stream;
            let is_wanted = |consumer| wants.by_consumer(publisher, consumer);
            if let Some(shortfall) = tracker.shortfall_at(*queue, is_ordered, is_wanted) {
                self.owe(Some(*queue), shortfall);
                is_settled = true;
            }
        }
        let all = 0..u32::try_from(self.missing.len()).unwrap_or(u32::MAX);
        let is_wanted = match fixed {
            [] => wants.by_any(publisher, all.clone()),
            fixed => wants.by_any(publisher, fixed.iter().copied()),
        };
        if !is_settled && is_wanted {
            let is_stream = |queue: &u32| self.queues.kind(*queue).is_stream;
            let is_ordered = match fixed {
                [] => !self.missing.is_empty() && all.into_iter().all(|queue| is_stream(&queue)),
                fixed => fixed.iter().all(is_stream),
            };
            self.owe(fixed.first().copied(), tracker.shortfall(is_ordered));
        }
    }

    fn owe(&mut self, queue: Option<u32>, shortfall: Shortfall) {
        match queue {
            Some(queue) => self.missing[queue as usize] += shortfall.missing,
            None => self.missing_somewhere += shortfall.missing,
        }
        self.tail += shortfall.tail;
        self.unjudged += shortfall.unjudged;
    }

    /// Settles the shortfall with the depths. Messages that are still in a queue may be the missing ones. Only those
    /// beyond that number are lost.
    fn settle(&self, sum: &mut Verification) {
        for (number, missing) in (0_u32..).zip(&self.missing) {
            let depth = if self.queues.kind(number).is_stream {
                Some(0)
            } else {
                self.depths.get(number as usize).copied().flatten()
            };
            settle(*missing, depth, sum);
        }
        let queues = (0_u32..).zip(self.depths);
        let mut depths = queues.filter(|(number, _)| !self.queues.kind(*number).is_stream);
        let depth = depths.try_fold(0, |sum: u64, (_, depth)| depth.map(|depth| sum + depth));
        settle(self.missing_somewhere, depth, sum);
    }
}

fn settle(missing: u64, depth: Option<u64>, sum: &mut Verification) {
    match depth {
        None => sum.not_judged += missing,
        Some(depth) => {
            sum.still_queued += missing.min(depth);
            sum.lost += missing.saturating_sub(depth);
        }
    }
}

pub(super) fn verdict(
    shortfalls: &ShortfallByQueue<'_>,
    found: DeliveryFindings,
    window: u64,
) -> Verification {
    let mut sum = Verification {
        window,
        accepted: shortfalls.accepted,
        lost: 0,
        still_queued: shortfalls.tail,
        not_judged: shortfalls.unjudged,
        unanswered: shortfalls.unanswered,
        duplicates: found.duplicates,
        duplicates_of_republished: found.of_republished,
        out_of_order: found.out_of_order,
        out_of_order_redelivered: found.out_of_order_redelivered,
        read_again: found.read_again,
        unchecked_deliveries: found.unchecked,
        sentence: String::new(),
    };
    shortfalls.settle(&mut sum);
    sum.sentence = sentence(&sum);
    sum
}

/// Returns the verdict as a sentence. It omits counts of 0, except for the three questions of the verification.
fn sentence(sum: &Verification) -> String {
    if sum.accepted == 0 && sum.unanswered == 0 {
        return "Nothing was checked: the broker accepted no message that carries a stamp."
            .to_owned();
    }
    let some = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let part = |count: u64, of: u64, what: &str, which: &str| {
        some(of, which)
            .map_or_else(|| format!("{count} {what}"), |of| format!("{count} {what} ({of})"))
    };
    let answers = [
        format!("{} lost", sum.lost),
        part(sum.duplicates, sum.duplicates_of_republished, "duplicates", "of resent messages"),
        part(sum.out_of_order, sum.out_of_order_redelivered, "out of order", "redelivered"),
    ];
    let asides = [
        some(sum.still_queued, "not received, but still in the queue"),
        not_judged(sum),
        some(sum.read_again, "read again from a stream"),
        some(sum.unchecked_deliveries, "deliveries too old to be checked for duplicates"),
    ];
    let found = format!("Of {} accepted messages {}", sum.accepted, answers.join(", "));
    asides.into_iter().flatten().fold(found, |text, aside| format!("{text}; {aside}")) + "."
}

fn not_judged(sum: &Verification) -> Option<String> {
    let behind = match sum.unanswered {
        0 => String::new(),
        count => format!(" ({count} that the broker is not known to have accepted)"),
    };
    (sum.not_judged > 0).then(|| format!("{} not judged{behind}", sum.not_judged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_queue_is_not_lost() {
        fn check(missing: u64, depth: Option<u64>, expected: (u64, u64, u64)) {
            let mut sum = Verification::default();
            settle(missing, depth, &mut sum);
            assert_eq!((sum.lost, sum.still_queued, sum.not_judged), expected);
        }
        check(10, Some(0), (10, 0, 0));
        check(10, Some(4), (6, 4, 0));
        check(10, Some(11), (0, 10, 0));
        check(10, None, (0, 0, 10));
        check(0, None, (0, 0, 0));
    }

    #[test]
    fn sentences_say_what_there_is() {
        let honest = Verification { accepted: 7, ..Verification::default() };
        let expected = "Of 7 accepted messages 0 lost, 0 duplicates, 0 out of order.";
        assert_eq!(sentence(&honest), expected);
        assert!(sentence(&Verification::default()).starts_with("Nothing was checked"));
        let poor = Verification {
            lost: 1,
            duplicates: 3,
            duplicates_of_republished: 2,
            still_queued: 4,
            not_judged: 5,
            ..honest
        };
        let expected = "Of 7 accepted messages 1 lost, 3 duplicates (2 of resent messages), 0 out of order; \
                        4 not received, but still in the queue; 5 not judged.";
        assert_eq!(sentence(&poor), expected);
    }
}
