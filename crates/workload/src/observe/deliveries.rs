//! Unsettled deliveries of a channel, in the order of their tags.

use core::ops::Range;
use std::collections::VecDeque;

use super::{
    overtaking::{Order, Overtaking},
    reading::{Batch, Begin},
};

/// Maximum of unsettled deliveries that are followed.
const OPEN_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug)]
struct Delivery {
    tag: u64,
    flow: usize,
    nanos: u64,
    /// The begin at a consumer with several workers; absent while it waits for one.
    begin: Option<Begin>,
    is_open: bool,
}

/// Unsettled deliveries.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    open: VecDeque<Delivery>,
    consumers: Vec<Consumer>,
}

/// Messages of a flow.
#[derive(Clone, Debug, Default)]
struct Consumer {
    flow: usize,
    /// Tags of unsettled messages, in ascending order.
    unsettled: VecDeque<u64>,
    overtaking: Overtaking,
    /// The highest tag that was settled alone.
    last_settled: u64,
    /// Messages that are processed, and tags of those that wait for it, in ascending order.
    in_process: usize,
    waiting: VecDeque<u64>,
}

impl Deliveries {
    /// Adds a delivery. Returns the number of unsettled ones of its flow.
    pub(super) fn add(&mut self, tag: u64, flow: usize, nanos: u64) -> u64 {
        if self.open.back().is_some_and(|last| last.tag >= tag) {
            self.forget();
        }
        if self.open.len() >= OPEN_MAX {
            self.forget();
        }
        let consumer = consumer(&mut self.consumers, flow);
        consumer.unsettled.push_back(tag);
        let begins = consumer.waiting.is_empty() && consumer.has_room();
        if begins {
            consumer.in_process += 1;
        } else {
            consumer.waiting.push_back(tag);
        }
        let begin = begins.then_some(Begin::At(nanos));
        self.open.push_back(Delivery { tag, flow, nanos, begin, is_open: true });
        consumer.unsettled.len() as u64
    }

    pub(super) fn forget(&mut self) {
        self.open.clear();
        for consumer in &mut self.consumers {
            consumer.unsettled.clear();
            consumer.in_process = 0;
            consumer.last_settled = 0;
            consumer.waiting.clear();
        }
    }

    /// Settles one delivery, or all up to a tag; all with tag 0. Returns them by flow.
    pub(super) fn settle(&mut self, tag: u64, multiple: bool, now: u64) -> Vec<(usize, Batch)> {
        let end = match tag {
            0 => self.open.len(),
            _ => self.open.partition_point(|delivery| delivery.tag <= tag),
        };
        let first = if multiple { 0 } else { end.saturating_sub(1) };
        let is_there = multiple || self.open.get(first).is_some_and(|found| found.tag == tag);
        let places = if is_there { first..end } else { end..end };
        self.settle_places(places, (!multiple).then_some(tag), now)
    }

    /// Settles the deliveries from one tag to another. Returns them by flow.
    pub(super) fn settle_range(&mut self, first: u64, last: u64, now: u64) -> Vec<(usize, Batch)> {
        if first == last {
            return self.settle(last, false, now);
        }
        let start = self.open.partition_point(|delivery| delivery.tag < first);
        let end = self.open.partition_point(|delivery| delivery.tag <= last);
        self.settle_places(start..end.max(start), None, now)
    }

    /// Settles the deliveries at these places. `single` is the tag of the only one.
    fn settle_places(
        &mut self,
        places: Range<usize>,
        single: Option<u64>,
        now: u64,
    ) -> Vec<(usize, Batch)> {
        let mut batches: Vec<(usize, Batch)> = Vec::new();
        let (first, mut earlier) = (places.start, 0);
        for delivery in self.open.range_mut(places) {
            if !delivery.is_open {
                continue;
            }
            delivery.is_open = false;
            add(&mut batches, delivery);
            earlier = consumer(&mut self.consumers, delivery.flow).remove(delivery);
        }
        for (flow, batch) in &mut batches {
            let mut freed = Begin::At(now);
            if let Some(tag) = single {
                let consumer = consumer(&mut self.consumers, *flow);
                let before = consumer.overtaking.concurrency();
                batch.order = Some(consumer.order(tag, earlier));
                let after = consumer.overtaking.concurrency();
                batch.begin = self.begin(first, after);
                if after > before {
                    batch.grown_from = Some(before);
                    // Workers that were not known have begun before.
                    freed = Begin::Unknown;
                }
            }
            self.begin_waiting(*flow, freed);
        }
        while self.open.front().is_some_and(|delivery| !delivery.is_open) {
            self.open.pop_front();
        }
        batches
    }

    /// Returns the begin of a settled message.
    fn begin(&self, place: usize, concurrency: usize) -> Begin {
        if concurrency == 1 {
            Begin::AfterTheLast
        } else {
            self.open[place].begin.unwrap_or(Begin::Unknown)
        }
    }

    /// Lets messages begin that waited for a worker.
    fn begin_waiting(&mut self, flow: usize, begin: Begin) {
        let consumer = consumer(&mut self.consumers, flow);
        while consumer.has_room() {
            let Some(tag) = consumer.waiting.pop_front() else { return };
            consumer.in_process += 1;
            let found = self.open.binary_search_by_key(&tag, |delivery| delivery.tag);
            if let Ok(place) = found {
                self.open[place].begin = Some(begin);
            }
        }
    }
}

impl Consumer {
    fn has_room(&self) -> bool {
        self.in_process < self.overtaking.concurrency()
    }

    /// Removes a settled message. Returns the number of earlier ones that are unsettled.
    fn remove(&mut self, delivery: &Delivery) -> usize {
        if delivery.begin.is_some() {
            self.in_process = self.in_process.saturating_sub(1);
        } else if let Ok(place) = self.waiting.binary_search(&delivery.tag) {
            self.waiting.remove(place);
        }
        let found = self.unsettled.binary_search(&delivery.tag);
        found.map_or(0, |place| {
            self.unsettled.remove(place);
            place
        })
    }

    /// Notes and returns the order of a settled message.
    fn order(&mut self, tag: u64, earlier: usize) -> Order {
        let order = Order { earlier, is_late: tag < self.last_settled };
        self.last_settled = self.last_settled.max(tag);
        self.overtaking.add(order);
        order
    }
}

fn consumer(consumers: &mut Vec<Consumer>, flow: usize) -> &mut Consumer {
    let known = consumers.iter().position(|consumer| consumer.flow == flow);
    let place = known.unwrap_or_else(|| {
        consumers.push(Consumer { flow, ..Consumer::default() });
        consumers.len() - 1
    });
    &mut consumers[place]
}

fn add(batches: &mut Vec<(usize, Batch)>, delivery: &Delivery) {
    let Delivery { flow, nanos, .. } = *delivery;
    let known = batches.iter_mut().find(|(of, _)| *of == flow);
    if let Some((_, batch)) = known {
        batch.messages += 1;
        batch.last_delivered = nanos;
    } else {
        batches.push((flow, Batch::of_one(nanos)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(deliveries: &mut Deliveries, tag: u64, multiple: bool) -> Vec<(usize, u64, u64)> {
        let batches = deliveries.settle(tag, multiple, 100);
        batches.iter().map(|(flow, batch)| (*flow, batch.messages, batch.last_delivered)).collect()
    }

    #[test]
    fn deliveries_are_settled_alone_or_up_to_a_tag() {
        let mut deliveries = Deliveries::default();
        for tag in 1..=6 {
            deliveries.add(tag, usize::from(tag % 2 == 0), tag * 10);
        }
        assert_eq!(settled(&mut deliveries, 2, false), [(1, 1, 20)]);
        assert_eq!(settled(&mut deliveries, 2, false), []);
        assert_eq!(settled(&mut deliveries, 4, true), [(0, 2, 30), (1, 1, 40)]);
        assert_eq!(settled(&mut deliveries, 9, false), []);
        assert_eq!(deliveries.add(7, 0, 70), 2);
        assert_eq!(settled(&mut deliveries, 0, true), [(0, 2, 70), (1, 1, 60)]);
        for tag in 8..=12 {
            deliveries.add(tag, 0, tag * 10);
        }
        let mut range = |first, last| {
            let batches = deliveries.settle_range(first, last, 200);
            batches
                .iter()
                .map(|(_, batch)| (batch.messages, batch.last_delivered))
                .collect::<Vec<_>>()
        };
        assert_eq!(range(9, 10), [(2, 100)]);
        assert_eq!(range(10, 10), []);
        assert_eq!(range(1, 11), [(2, 110)]);
        assert_eq!(range(20, 30), []);
    }

    #[test]
    fn a_message_of_several_workers_begins_when_one_is_free() {
        let mut deliveries = Deliveries::default();
        let settle = |deliveries: &mut Deliveries, tag, now| {
            let (_, batch) = deliveries.settle(tag, false, now)[0];
            (batch.order.map(|order| order.earlier), batch.begin)
        };
        // Three pairs that end in the other order show two workers.
        for tag in 1..=6 {
            deliveries.add(tag, 0, tag);
        }
        for tag in [2, 4, 6] {
            settle(&mut deliveries, tag, 50);
            settle(&mut deliveries, tag - 1, 50);
        }
        for tag in 11..=14 {
            deliveries.add(tag, 0, 100 + tag);
        }
        assert_eq!(settle(&mut deliveries, 12, 200), (Some(1), Begin::At(112)));
        assert_eq!(settle(&mut deliveries, 13, 230), (Some(1), Begin::At(200)));
        assert_eq!(settle(&mut deliveries, 14, 250), (Some(1), Begin::At(230)));
        assert_eq!(settle(&mut deliveries, 11, 260), (Some(0), Begin::At(111)));
    }
}
