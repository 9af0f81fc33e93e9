//! Messages that consumers hold for their processing time: one after the other or several at the same time, at a limited
//! rate.

use std::collections::VecDeque;

use rabbitscope_runs::{
    Draws, Random,
    record::Latency,
    scenario::{ConsumerGroup, LatencyEnds},
};
use rabbitscope_timing::{Nanos, RunInstant, Stamp};
use rabbitscope_verify::Reader;

use crate::{
    link::serve_context::{Sending, ServeContext},
    packing::Items,
};

/// A delivered message.
#[derive(Clone, Copy, Debug)]
pub(in crate::link) struct HeldMessage {
    pub(in crate::link) arrived: RunInstant,
    /// Time at which the consumer starts to process it.
    pub(in crate::link) begun: RunInstant,
    /// Its delivery tag, or its offset in a stream.
    pub(in crate::link) delivery_tag: u64,
    /// Number of the subscription on the connection.
    pub(in crate::link) subscription: u32,
    pub(in crate::link) redelivered: bool,
    pub(in crate::link) stamp: Option<Stamp>,
    /// The consumer, and the queue.
    pub(in crate::link) reader: Reader,
    /// The slot of its latency.
    pub(in crate::link) slot: u16,
    pub(in crate::link) items: Items,
    pub(in crate::link) body_bytes: u32,
}

impl HeldMessage {
    /// Counts the processed message. Records the latency up to its arrival, and up to the start of its processing if `recorded` asks for
    /// it. Returns the time of sending; absent if unknown.
    #[inline]
    pub(in crate::link) fn measure(
        &self,
        recorded: LatencyEnds,
        context: &mut ServeContext<'_>,
    ) -> Option<Sending> {
        let counts = &mut context.measured.counts;
        counts.consumed += 1;
        counts.redelivered += u64::from(self.redelivered);
        counts.consumed_items += u64::from(self.items.count);
        counts.consumed_item_bytes += u64::from(self.items.bytes);
        let stamp = self.stamp.filter(|stamp| stamp.is_of(context.run.tag));
        if let Some(recorder) = &mut context.recorder
            && let Some(stamp) = stamp
        {
            recorder.delivered(self.reader, stamp.number, self.arrived, self.redelivered);
        }
        context.measured.slots.select(self.slot);
        let sending = stamp.and_then(|stamp| {
            Some(Sending { at: stamp.sent_at(self.arrived)?, lateness: stamp.lateness() })
        });
        match sending {
            Some(sending) => {
                context.delivered(sending, self.arrived);
                if recorded.processed {
                    let ends = [Latency::Processed, Latency::ProcessedIntended];
                    context.reached(ends, sending, self.begun);
                }
            }
            None => context.measured.unstamped += 1,
        }
        sending
    }
}

/// The messages that the consumers of a connection hold.
#[derive(Debug)]
pub(in crate::link) struct HeldMessages {
    /// Shortest time from one message of a consumer to the next.
    interval: Nanos,
    times: Times,
    consumers: Vec<Waiting>,
}

/// Processing times.
#[derive(Debug)]
enum Times {
    /// By time, each with its end within the cycle.
    Steps(Vec<(Nanos, Nanos)>),
    /// By shares.
    Shares(Vec<Nanos>, Draws),
}

/// Number of no subscription: that of messages that were given up.
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Waiting {
    /// Messages in the order in which they end, each with that time.
    messages: VecDeque<(RunInstant, HeldMessage)>,
    /// Messages among them that were given up.
    given_up: usize,
    /// Times at which the messages end that are processed last, one for each that may be processed at the same time.
    free_at: Vec<RunInstant>,
    /// Processing of the next message begins at this time at the earliest.
    next_at: RunInstant,
    /// Number of the next message, for its draw.
    number: u64,
}

impl HeldMessages {
    /// Creates the store of held messages; absent if the group settles messages as they arrive.
    pub(in crate::link) fn for_group(
        group: &ConsumerGroup,
        random: &Random,
        consumers: usize,
    ) -> Option<Self> {
        group.starts_later().then(|| Self {
            interval: group.rate.map_or(Nanos::ZERO, interval),
            times: Times::for_group(group, random),
            consumers: vec![Waiting::new(group.concurrency); consumers],
        })
    }

    /// Returns the number of messages that a consumer holds.
    pub(in crate::link) fn count(&self, consumer: usize) -> u64 {
        let waiting = &self.consumers[consumer];
        (waiting.messages.len() - waiting.given_up) as u64
    }

    /// Holds `message`. Returns the end of its processing; absent if it need not be held.
    pub(in crate::link) fn hold(
        &mut self,
        consumer: usize,
        message: HeldMessage,
    ) -> Option<RunInstant> {
        let waiting = &mut self.consumers[consumer];
        let begin = waiting.free_at().max(waiting.next_at).max(message.arrived);
        // Consumers have numbers of their own.
        let number = (consumer as u64) << 40 | waiting.number;
        waiting.number += 1;
        let done = begin + self.times.at(begin, number);
        *waiting.free_at_mut() = done;
        waiting.next_at = begin + self.interval;
        if done <= message.arrived && waiting.messages.is_empty() {
            return None;
        }
        let later = waiting.messages.iter().rev().take_while(|(end, _)| *end > done).count();
        let place = waiting.messages.len() - later;
        waiting.messages.insert(place, (done, HeldMessage { begun: begin, ..message }));
        Some(done)
    }

    /// Releases the message of a consumer that ends first; `None` if it was given up.
    pub(in crate::link) fn release(&mut self, consumer: usize) -> Option<HeldMessage> {
        let waiting = &mut self.consumers[consumer];
        let (_, message) = waiting.messages.pop_front()?;
        if message.subscription == NOBODY {
            waiting.given_up -= 1;
            return None;
        }
        Some(message)
    }

    /// Gives up the messages of a subscription. Each keeps its place in time.
    pub(in crate::link) fn give_up(&mut self, consumer: usize, subscription: u32) {
        let Waiting { messages, given_up, .. } = &mut self.consumers[consumer];
        let held = messages.iter_mut().map(|(_, message)| message);
        for message in held.filter(|one| one.subscription == subscription) {
            message.subscription = NOBODY;
            *given_up += 1;
        }
    }

    /// Drops all messages of a lost connection, because the broker redelivers them.
    pub(in crate::link) fn drop_all(&mut self) {
        for waiting in &mut self.consumers {
            waiting.messages.clear();
            waiting.given_up = 0;
            waiting.free_at.fill(RunInstant::START);
            waiting.next_at = RunInstant::START;
        }
    }
}

impl Waiting {
    fn new(concurrency: u32) -> Self {
        Self {
            messages: VecDeque::new(),
            given_up: 0,
            free_at: vec![RunInstant::START; concurrency.max(1) as usize],
            next_at: RunInstant::START,
            number: 0,
        }
    }

    /// Returns the time at which the next message may begin.
    fn free_at(&self) -> RunInstant {
        self.free_at.iter().copied().min().unwrap_or(RunInstant::START)
    }

    /// Returns the place of that time.
    fn free_at_mut(&mut self) -> &mut RunInstant {
        let first = self.free_at.iter().enumerate().min_by_key(|(_, at)| **at);
        let place = first.map_or(0, |(place, _)| place);
        &mut self.free_at[place]
    }
}

impl Times {
    fn for_group(group: &ConsumerGroup, random: &Random) -> Self {
        if let Some(shares) = &group.processing_time_shares {
            let times = shares.iter().map(|share| share.time.into()).collect();
            let shares: Vec<_> = shares.iter().map(|share| share.share).collect();
            return Self::Shares(times, Draws::new(random.clone(), &shares));
        }
        let mut end = Nanos::ZERO;
        let mut steps: Vec<_> = group
            .processing_steps()
            .iter()
            .map(|step| {
                end += step.lasts.into();
                (end, step.time.into())
            })
            .collect();
        if steps.is_empty() {
            steps.push((Nanos::MAX, group.processing_time.unwrap_or_default().into()));
        }
        Self::Steps(steps)
    }

    /// Returns the time for the message with this number, whose processing begins at `begin`.
    fn at(&self, begin: RunInstant, number: u64) -> Nanos {
        match self {
            Self::Steps(steps) => {
                let shortest = Nanos::new(1);
                let cycle = steps.last().map_or(shortest, |(end, _)| *end).max(shortest);
                let within = begin.since(RunInstant::START) % cycle;
                steps.iter().find(|(end, _)| within < *end).map_or(Nanos::ZERO, |(_, time)| *time)
            }
            Self::Shares(times, draws) => times[draws.choice(number)],
        }
    }
}

/// Returns the interval of messages at `rate` a second.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is positive")]
fn interval(rate: f64) -> Nanos {
    Nanos::new((1e9 / rate) as u64)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    const MILLI: Nanos = Nanos::MILLISECOND;

    fn holding(keys: &str) -> Option<HeldMessages> {
        let text = format!(
            "name = \"h\"\nrun.duration = \"1s\"\nqueues = [{{ name = \"q\" }}]\n\
             [[consumers]]\nqueue = \"q\"\nprefetch = 10\n{keys}"
        );
        let scenario = scenario::parse(&text, "test", &[]).unwrap();
        HeldMessages::for_group(&scenario.consumers[0], &Random::new(1), 2)
    }

    fn message(arrived: RunInstant) -> HeldMessage {
        let reader = Reader { queue: 0, consumer: 0 };
        HeldMessage {
            arrived,
            begun: arrived,
            delivery_tag: 1,
            subscription: 0,
            redelivered: false,
            stamp: None,
            reader,
            slot: 0,
            items: Items::default(),
            body_bytes: 0,
        }
    }

    /// Checks the milliseconds at which messages are done that arrive at these milliseconds; absent: at once.
    fn check(keys: &str, arrivals: &[u64], expected: &[Option<u64>]) {
        let mut holding = holding(keys).unwrap();
        let done: Vec<_> = arrivals
            .iter()
            .map(|arrived| {
                let message = message(RunInstant::START + MILLI * *arrived);
                let until = holding.hold(0, message);
                until.map(|until| until.since(RunInstant::START) / MILLI)
            })
            .collect();
        assert_eq!(done, expected, "{keys}");
    }

    #[test]
    fn messages_wait_for_their_time() {
        assert!(holding("").is_none());
        check("rate = 100", &[0, 0, 0, 100], &[None, Some(10), Some(20), Some(100)]);
        check("processing-time = \"5ms\"", &[0, 1, 20], &[Some(5), Some(10), Some(25)]);
        check("processing-time = \"5ms\"\nrate = 50", &[0, 0], &[Some(5), Some(25)]);
        let steps = "processing-times = [{ time = \"3ms\", for = \"1s\" }, { time = \"0s\", for = \"1s\" }]";
        check(steps, &[0, 1000, 2000], &[Some(3), Some(1000), Some(2003)]);
    }

    #[test]
    fn messages_are_processed_at_the_same_time() {
        let pair = "processing-time = \"5ms\"\nconcurrency = 2";
        check(pair, &[0, 1, 2, 20], &[Some(5), Some(6), Some(10), Some(25)]);
        let steps = "processing-times = [{ time = \"9ms\", for = \"1ms\" }, { time = \"3ms\", for = \"1s\" }]\n\
                     concurrency = 2";
        let mut holding = holding(steps).unwrap();
        for (tag, at) in [0, 1, 2, 3].into_iter().enumerate() {
            let arrived = RunInstant::START + MILLI * at;
            holding.hold(0, HeldMessage { delivery_tag: tag as u64, ..message(arrived) });
        }
        let released = [(); 4].map(|()| holding.release(0).unwrap().delivery_tag);
        assert_eq!(
            released,
            [1, 2, 0, 3],
            "the first one ends at 9 ms, the others at 4, 7 and 10 ms"
        );
    }

    #[test]
    fn processing_times_have_their_shares() {
        let shares = "processing-time-shares = [{ time = \"1ms\", share = 3 }, { time = \"9ms\", share = 1 }]";
        let mut holding = holding(shares).unwrap();
        let mut times = |consumer| {
            let times = (0..1000).map(|number| {
                let arrived = RunInstant::START + MILLI * 10 * number;
                let done = holding.hold(consumer, message(arrived)).unwrap();
                done.since(arrived) / MILLI
            });
            times.collect::<Vec<_>>()
        };
        let (one, other) = (times(0), times(1));
        let long = one.iter().filter(|time| **time == 9).count();
        assert!((190..310).contains(&long), "{long}");
        assert_eq!(one.iter().filter(|time| **time == 1).count(), 1000 - long);
        assert_ne!(one, other, "consumers draw for themselves");
    }

    #[test]
    fn messages_that_are_given_up_are_not_released() {
        let mut holding = holding("rate = 100").unwrap();
        for subscription in [0, 1, 0, 1] {
            let message = HeldMessage { subscription, ..message(RunInstant::START) };
            holding.hold(0, message);
        }
        assert_eq!(holding.count(0), 3, "the first one needs not wait");
        holding.give_up(0, 1);
        assert_eq!(holding.count(0), 1);
        let released = [(); 3].map(|()| holding.release(0).map(|message| message.subscription));
        assert_eq!((released, holding.count(0)), ([None, Some(0), None], 0));
    }

    #[test]
    fn without_a_backlog_nothing_waits_for_the_rate() {
        let mut holding = holding("rate = 100").unwrap();
        for at in 0..5 {
            let arrived = RunInstant::START + MILLI * 20 * at;
            assert_eq!(holding.hold(0, message(arrived)), None, "{at}");
        }
    }
}
