//! Detection of messages that a consumer received after a later message of the same publisher.

use std::collections::HashMap;

use crate::observation::Reader;

/// The highest number of each publisher that each consumer has seen.
#[derive(Default)]
pub(super) struct DeliveryOrder {
    index: HashMap<(Reader, u32), usize>,
    /// One more than the highest sequence number.
    ends: Vec<u64>,
    /// The entry of the last message: messages of a publisher are consecutive.
    last: Option<((Reader, u32), usize)>,
}

impl DeliveryOrder {
    #[inline]
    pub(super) fn is_overtaken(&mut self, reader: Reader, publisher: u32, sequence: u64) -> bool {
        let key = (reader, publisher);
        let at = match self.last {
            Some((last, at)) if last == key => at,
            _ => self.find(key),
        };
        let end = &mut self.ends[at];
        let is_overtaken = sequence + 1 < *end;
        *end = (*end).max(sequence + 1);
        is_overtaken
    }

    fn find(&mut self, key: (Reader, u32)) -> usize {
        let at = *self.index.entry(key).or_insert_with(|| {
            self.ends.push(0);
            self.ends.len() - 1
        });
        self.last = Some((key, at));
        at
    }

    pub(super) fn forget(&mut self, reader: Reader) {
        for ((of, _), at) in &self.index {
            if *of == reader {
                self.ends[*at] = 0;
            }
        }
    }
}
