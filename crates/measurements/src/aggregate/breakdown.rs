//! Latencies of the measured time by group and by queue.

use rabbitscope_runs::record::{
    GroupLatencies, Latency, LatencyBreakdown, LatencyFigures, QueueLatencies,
};
use rabbitscope_timing::{
    HistogramSet, MAX_GROUPS, Slots, add_slots, group_slot, latency_figures, merge,
};

/// Latencies of the measured time, per slot.
#[derive(Debug, Default)]
pub(crate) struct Breakdown {
    slots: Slots,
    totals: Vec<HistogramSet>,
}

impl Breakdown {
    pub(crate) fn new(slots: Slots) -> Self {
        Self { slots, totals: Vec::new() }
    }

    /// Completes the latencies of groups that do not distinguish all ends.
    pub(crate) fn fill(&self, measured: &mut [HistogramSet]) {
        self.slots.fill(measured);
    }

    /// Adds the measurements of an interval.
    pub(crate) fn add(&mut self, measured: &[HistogramSet]) {
        add_slots(&mut self.totals, measured);
    }

    pub(crate) fn finish(self) -> LatencyBreakdown {
        let Self { slots, mut totals } = self;
        // Latencies of a queue also belong to its group.
        let middle = (MAX_GROUPS + 1).min(totals.len());
        let (groups, queues) = totals.split_at_mut(middle);
        let mut by_queue: Vec<(String, HistogramSet)> = Vec::new();
        for ((group, queue), histograms) in slots.queues.iter().zip(queues.iter()) {
            if let Some(of_group) = groups.get_mut(usize::from(group_slot(*group))) {
                merge(of_group, histograms);
            }
            match by_queue.iter_mut().find(|(name, _)| name == queue) {
                Some((_, sum)) => merge(sum, histograms),
                None => by_queue.push((queue.clone(), histograms.clone())),
            }
        }
        let groups = slots.groups.iter().take(MAX_GROUPS).zip(groups.iter());
        let groups = groups.map(|((kind, name), histograms)| GroupLatencies {
            kind: (*kind).to_owned(),
            group: name.clone(),
            latencies: figures(histograms),
        });
        let queues = by_queue
            .into_iter()
            .map(|(queue, histograms)| QueueLatencies { queue, latencies: figures(&histograms) });
        LatencyBreakdown {
            groups: groups.filter(|group| !group.latencies.is_empty()).collect(),
            queues: queues.filter(|queue| !queue.latencies.is_empty()).collect(),
            left_out: slots.left_out,
        }
    }
}

fn figures(histograms: &HistogramSet) -> Vec<LatencyFigures> {
    let measured = Latency::ALL.iter().zip(histograms);
    measured
        .filter_map(|(latency, histogram)| latency_figures(latency.name().to_owned(), histogram))
        .collect()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario::parse;
    use rabbitscope_timing::{Nanos, SecondHistograms, SlotHistograms, publisher_slot};

    use super::*;

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
        let slots = Slots::from_scenario(&parse(TEXT, "test", &[]).unwrap());
        let mut measured = SlotHistograms::default();
        let mut measure = |slot, latency, nanos| {
            measured.select(slot);
            measured.record(latency, Nanos::new(nanos), 1);
        };
        measure(publisher_slot(0), Latency::Confirm, 1000);
        measure(slots.queue(0, "a"), Latency::EndToEnd, 2000);
        measure(slots.queue(1, "a"), Latency::EndToEnd, 3000);
        measure(slots.queue(1, "a"), Latency::EndToEnd, 3000);
        measure(slots.queue(2, "set-7"), Latency::EndToEnd, 4000);
        measure(slots.queue(2, "set-120"), Latency::EndToEnd, 5000);
        measure(publisher_slot(0), Latency::Confirm, 1000);
        let by_slot = measured.take();
        let all = SecondHistograms::from_slots(&by_slot);
        assert_eq!(all.point(Latency::EndToEnd).unwrap().count, 5);
        let mut breakdown = Breakdown::new(slots);
        breakdown.add(&by_slot);
        breakdown.add(&by_slot);
        let found = breakdown.finish();
        let groups: Vec<_> = found
            .groups
            .iter()
            .map(|group| {
                (group.kind.as_str(), group.group.as_str(), group.latencies[0].percentiles.count)
            })
            .collect();
        let expected = [
            ("publishers", "p", 4),
            ("consumers", "one", 2),
            ("consumers", "two", 4),
            ("consumers", "many", 4),
        ];
        assert_eq!(groups, expected);
        let queues: Vec<_> = found
            .queues
            .iter()
            .map(|queue| (queue.queue.as_str(), queue.latencies[0].percentiles.count))
            .collect();
        assert_eq!(queues, [("a", 6), ("set-7", 2)]);
        assert_eq!(found.left_out, 22, "of 122 queues as groups read them");
    }

    #[test]
    fn queues_are_apart_only_when_asked_for() {
        let text = TEXT.replace("latency-by-queue = true", "latency-by-queue = false");
        let slots = Slots::from_scenario(&parse(&text, "test", &[]).unwrap());
        assert_eq!((slots.queue(0, "a"), slots.left_out), (slots.consumers(0), 0));
    }

    #[test]
    fn groups_beyond_the_most_share_a_slot_that_is_not_shown() {
        let group = |number: u32| format!("[[publishers]]\nname = \"p{number}\"\nqueue = \"q\"\n");
        let groups = (0..103).map(group).collect::<Vec<_>>().concat();
        let text =
            format!("name = \"t\"\nrun.duration = \"1s\"\nqueues = [{{ name = \"q\" }}]\n{groups}");
        let slots = Slots::from_scenario(&parse(&text, "test", &[]).unwrap());
        assert_eq!((publisher_slot(99), publisher_slot(102), slots.left_out), (99, 100, 3));
        let mut measured = SlotHistograms::default();
        measured.select(publisher_slot(102));
        measured.record(Latency::Confirm, Nanos::new(1000), 1);
        let mut breakdown = Breakdown::new(slots);
        breakdown.add(&measured.take());
        assert!(breakdown.finish().groups.is_empty());
    }
}
