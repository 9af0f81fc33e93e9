//! Latencies by group and by queue.
//!
//! Each measurement is recorded once, into the gauges of the slot whose turn it is (`Tally::select`); a slot
//! is a group, or a queue as a group of consumers reads it. What all measured is the sum of the slots, made
//! once a second by the thread that adds up the run. So no message costs a second record or a search.

use rabbitscope_runs::{
    record::{GroupLatencies, LatencyBreakdown, LatencyFigures, QueueLatencies},
    scenario::Scenario,
};

use crate::latency::{Gauge, Latency};

/// Slots of groups, and of queues. A slot takes about 200 KiB for each latency that it measures, on each
/// load thread and once more in all.
const MOST_GROUPS: usize = 100;
const MOST_QUEUES: usize = 100;

/// A gauge for each [`Latency`].
pub(crate) type Gauges = [Gauge; Latency::ALL.len()];

/// Which slot is whose. The slot behind those of the groups is for groups beyond [`MOST_GROUPS`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// Kind and name, in the order of the scenario.
    groups: Vec<(&'static str, String)>,
    publishers: usize,
    consumers: usize,
    /// Behind the slots of the groups: a group's number, and a queue that it reads.
    queues: Vec<(usize, String)>,
    left_out: u64,
}

impl Slots {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let publishers = scenario.publishers.iter().map(|it| ("publishers", it.name.clone()));
        let consumers = scenario.consumers.iter().map(|it| ("consumers", it.name.clone()));
        let requests = scenario.requests.iter().map(|it| ("requests", it.name.clone()));
        let mut slots = Self {
            groups: publishers.chain(consumers).chain(requests).collect(),
            publishers: scenario.publishers.len(),
            consumers: scenario.consumers.len(),
            queues: Vec::new(),
            left_out: 0,
        };
        if scenario.run.latency_by_queue {
            slots.add_queues(scenario);
        }
        let room = slots.groups.len().saturating_sub(MOST_GROUPS);
        slots.left_out += u64::try_from(room).unwrap_or(u64::MAX);
        slots
    }

    fn add_queues(&mut self, scenario: &Scenario) {
        for (number, group) in scenario.consumers.iter().enumerate() {
            for queue in scenario.queue_names(&group.queue) {
                if self.queues.len() < MOST_QUEUES {
                    self.queues.push((self.publishers + number, queue));
                } else {
                    self.left_out += 1;
                }
            }
        }
    }

    pub(crate) fn consumers(&self, number: usize) -> u16 {
        slot(self.publishers + number)
    }

    pub(crate) fn requests(&self, number: usize) -> u16 {
        slot(self.publishers + self.consumers + number)
    }

    /// What consumers of this group read from this queue.
    pub(crate) fn queue(&self, consumers: usize, queue: &str) -> u16 {
        let group = self.publishers + consumers;
        let known = self.queues.iter().position(|(of, name)| *of == group && name == queue);
        known.map_or_else(|| slot(group), |at| u16::try_from(MOST_GROUPS + 1 + at).unwrap_or(0))
    }
}

/// Of a group of publishers: they come first.
pub(crate) fn publishers(number: usize) -> u16 {
    slot(number)
}

fn slot(group: usize) -> u16 {
    u16::try_from(group.min(MOST_GROUPS)).unwrap_or(0)
}

/// Latencies of the measured time, by slot.
#[derive(Debug, Default)]
pub(crate) struct Breakdown {
    slots: Slots,
    totals: Vec<Gauges>,
}

impl Breakdown {
    pub(crate) fn new(slots: Slots) -> Self {
        Self { slots, totals: Vec::new() }
    }

    /// Adds what was measured in an interval.
    pub(crate) fn add(&mut self, measured: &[Gauges]) {
        add(&mut self.totals, measured);
    }

    pub(crate) fn finish(self) -> LatencyBreakdown {
        let Self { slots, mut totals } = self;
        // What was read from a queue was measured by the group, too.
        let middle = (MOST_GROUPS + 1).min(totals.len());
        let (groups, queues) = totals.split_at_mut(middle);
        let mut by_queue: Vec<(String, Gauges)> = Vec::new();
        for ((group, queue), gauges) in slots.queues.iter().zip(queues.iter()) {
            if let Some(of_group) = groups.get_mut(usize::from(slot(*group))) {
                merge(of_group, gauges);
            }
            match by_queue.iter_mut().find(|(name, _)| name == queue) {
                Some((_, sum)) => merge(sum, gauges),
                None => by_queue.push((queue.clone(), gauges.clone())),
            }
        }
        let groups = slots.groups.iter().take(MOST_GROUPS).zip(groups.iter());
        let groups = groups.map(|((kind, name), gauges)| GroupLatencies {
            kind: (*kind).to_owned(),
            group: name.clone(),
            latencies: figures(gauges),
        });
        let queues = by_queue
            .into_iter()
            .map(|(queue, gauges)| QueueLatencies { queue, latencies: figures(&gauges) });
        LatencyBreakdown {
            groups: groups.filter(|it| !it.latencies.is_empty()).collect(),
            queues: queues.filter(|it| !it.latencies.is_empty()).collect(),
            left_out: slots.left_out,
        }
    }
}

/// Adds slot by slot.
pub(crate) fn add(sum: &mut Vec<Gauges>, part: &[Gauges]) {
    if sum.len() < part.len() {
        sum.resize_with(part.len(), Gauges::default);
    }
    for (sum, part) in sum.iter_mut().zip(part) {
        merge(sum, part);
    }
}

/// All slots together.
pub(crate) fn total(slots: &[Gauges]) -> Gauges {
    let mut sum = Gauges::default();
    for gauges in slots {
        merge(&mut sum, gauges);
    }
    sum
}

fn merge(sum: &mut Gauges, part: &Gauges) {
    for (sum, part) in sum.iter_mut().zip(part) {
        sum.add(part);
    }
}

fn figures(gauges: &Gauges) -> Vec<LatencyFigures> {
    let measured = Latency::ALL.iter().zip(gauges);
    let figures = measured.filter_map(|(latency, gauge)| {
        let total = gauge.measured()?;
        Some(LatencyFigures {
            name: latency.name().to_owned(),
            count: total.len(),
            mean: total.mean(),
            min: total.min(),
            p50: total.value_at_quantile(0.5),
            p95: total.value_at_quantile(0.95),
            p99: total.value_at_quantile(0.99),
            p999: total.value_at_quantile(0.999),
            p9999: total.value_at_quantile(0.9999),
            max: total.max(),
        })
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario::parse;

    use super::*;
    use crate::tally::Tally;

    const TEXT: &str = r#"
        name = "t"
        run = { duration = "1s", latency-by-queue = true }
        queues = [{ name = "a" }, { name = "set-{}", from = 1, to = 120 }]
        publishers = [{ name = "p", queue = "a" }]
        consumers = [
            { name = "one", queue = "a" },
            { name = "two", queue = "a" },
            { name = "many", queue = "set-{}", count = 120 },
        ]
    "#;

    #[test]
    fn each_has_what_it_measured() {
        let slots = Slots::of(&parse(TEXT, "test", &[]).unwrap());
        let mut tally = Tally::default();
        let mut measure = |slot, latency, nanos| {
            tally.select(slot);
            tally.measure(latency, nanos, 1);
        };
        measure(publishers(0), Latency::Confirm, 1000);
        measure(slots.queue(0, "a"), Latency::EndToEnd, 2000);
        measure(slots.queue(1, "a"), Latency::EndToEnd, 3000);
        measure(slots.queue(1, "a"), Latency::EndToEnd, 3000);
        measure(slots.queue(2, "set-7"), Latency::EndToEnd, 4000);
        measure(slots.queue(2, "set-120"), Latency::EndToEnd, 5000);
        measure(publishers(0), Latency::Confirm, 1000);
        let by_slot = tally.by_slot();
        let all = total(&by_slot);
        assert_eq!(all[Latency::EndToEnd as usize].measured().unwrap().len(), 5);
        let mut breakdown = Breakdown::new(slots);
        breakdown.add(&by_slot);
        breakdown.add(&by_slot);
        let found = breakdown.finish();
        let groups: Vec<_> = found
            .groups
            .iter()
            .map(|it| (it.kind.as_str(), it.group.as_str(), it.latencies[0].count))
            .collect();
        let expected = [
            ("publishers", "p", 4),
            ("consumers", "one", 2),
            ("consumers", "two", 4),
            ("consumers", "many", 4),
        ];
        assert_eq!(groups, expected);
        let queues: Vec<_> =
            found.queues.iter().map(|it| (it.queue.as_str(), it.latencies[0].count)).collect();
        assert_eq!(queues, [("a", 6), ("set-7", 2)]);
        assert_eq!(found.left_out, 22, "of 122 queues as groups read them");
    }

    #[test]
    fn queues_are_apart_only_when_asked_for() {
        let text = TEXT.replace("latency-by-queue = true", "latency-by-queue = false");
        let slots = Slots::of(&parse(&text, "test", &[]).unwrap());
        assert_eq!((slots.queue(0, "a"), slots.left_out), (slots.consumers(0), 0));
    }

    #[test]
    fn groups_beyond_the_most_share_a_slot_that_is_not_shown() {
        let group = |at: u32| format!("[[publishers]]\nname = \"p{at}\"\nqueue = \"q\"\n");
        let groups = (0..103).map(group).collect::<Vec<_>>().concat();
        let text =
            format!("name = \"t\"\nrun.duration = \"1s\"\nqueues = [{{ name = \"q\" }}]\n{groups}");
        let slots = Slots::of(&parse(&text, "test", &[]).unwrap());
        assert_eq!((publishers(99), publishers(102), slots.left_out), (99, 100, 3));
        let mut tally = Tally::default();
        tally.select(publishers(102));
        tally.measure(Latency::Confirm, 1000, 1);
        let mut breakdown = Breakdown::new(slots);
        breakdown.add(&tally.by_slot());
        assert!(breakdown.finish().groups.is_empty());
    }
}
