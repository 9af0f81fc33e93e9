//! Unsettled deliveries of a channel, in the order of their tags.

use std::collections::VecDeque;

use super::reading::Batch;

/// Maximum of unsettled deliveries that are followed.
const OPEN_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug)]
struct Delivery {
    tag: u64,
    flow: usize,
    nanos: u64,
    is_open: bool,
}

/// Unsettled deliveries.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    open: VecDeque<Delivery>,
    counts: Vec<(usize, u64)>,
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
        self.open.push_back(Delivery { tag, flow, nanos, is_open: true });
        let count = self.count(flow);
        *count += 1;
        *count
    }

    pub(super) fn forget(&mut self) {
        self.open.clear();
        self.counts.clear();
    }

    fn count(&mut self, flow: usize) -> &mut u64 {
        let known = self.counts.iter().position(|(of, _)| *of == flow);
        let place = known.unwrap_or_else(|| {
            self.counts.push((flow, 0));
            self.counts.len() - 1
        });
        &mut self.counts[place].1
    }

    /// Settles one delivery, or all up to a tag; all with tag 0. Returns them by flow.
    pub(super) fn settle(&mut self, tag: u64, multiple: bool) -> Vec<(usize, Batch)> {
        let mut batches: Vec<(usize, Batch)> = Vec::new();
        let end = match tag {
            0 => self.open.len(),
            _ => self.open.partition_point(|delivery| delivery.tag <= tag),
        };
        let first = if multiple { 0 } else { end.saturating_sub(1) };
        for delivery in self.open.range_mut(first..end) {
            if !delivery.is_open || !multiple && delivery.tag != tag {
                continue;
            }
            delivery.is_open = false;
            add(&mut batches, delivery);
        }
        for (flow, batch) in &batches {
            let count = self.count(*flow);
            *count = count.saturating_sub(batch.messages);
        }
        while self.open.front().is_some_and(|delivery| !delivery.is_open) {
            self.open.pop_front();
        }
        batches
    }
}

fn add(batches: &mut Vec<(usize, Batch)>, delivery: &Delivery) {
    let Delivery { tag, flow, nanos, .. } = *delivery;
    let known = batches.iter_mut().find(|(of, _)| *of == flow);
    if let Some((_, batch)) = known {
        batch.messages += 1;
        (batch.last_delivered, batch.last_tag) = (nanos, tag);
    } else {
        let (first_delivered, last_delivered) = (nanos, nanos);
        let batch = Batch { messages: 1, first_delivered, last_delivered, last_tag: tag };
        batches.push((flow, batch));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(deliveries: &mut Deliveries, tag: u64, multiple: bool) -> Vec<(usize, u64, u64)> {
        let batches = deliveries.settle(tag, multiple);
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
    }
}
