//! Orders records by time.
//!
//! Each CPU has a buffer of its own, and perf copies the buffers into the file one after another. Times increase within
//! a buffer only. After each round over all buffers perf writes a mark: later records are no earlier than the latest
//! record before the previous mark (`tools/perf/util/ordered-events.c`).
//!
//! Samples add up in any order. So only records that change the meaning of samples are sorted among them.

use hashbrown::HashMap;

use super::records::Record;

/// Limit of waiting bytes. A file without marks is one round; half of the records are taken when this limit is reached.
const MAX_WAITING_BYTES: usize = 32 << 20;

/// A record whose turn comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// A sample of a known stack.
    Sample {
        /// Number of the stack.
        stack: u32,
        weight: u64,
    },
    /// A change of a process or thread, by its position in the file.
    Change { position: u64 },
}

/// A change of a process or thread: its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    kind: u32,
    misc: u16,
    position: u64,
    body: Box<[u8]>,
}

impl Change {
    /// The record that was read.
    pub(super) fn record(&self) -> Record<'_> {
        let Self { kind, misc, position, ref body } = *self;
        Record { kind, misc, position, body }
    }
}

/// A record with its time.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    time: u64,
    turn: Turn,
}

/// The records that wait because earlier ones may follow.
#[derive(Debug)]
pub(super) struct Turns {
    waiting: Vec<Waiting>,
    /// The waiting changes by position.
    changes: HashMap<u64, Change>,
    change_bytes: usize,
    /// Time of the earliest waiting change.
    first_change: u64,
    max_bytes: usize,
    latest: u64,
    /// All records up to this time were read.
    complete_until: u64,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            changes: HashMap::new(),
            change_bytes: 0,
            first_change: u64::MAX,
            max_bytes: MAX_WAITING_BYTES,
            latest: 0,
            complete_until: 0,
        }
    }
}

impl Turns {
    /// Lets a sample wait.
    pub(super) fn add_sample(&mut self, time: u64, stack: u32, weight: u64) {
        self.add(time, Turn::Sample { stack, weight });
    }

    /// Lets a change wait.
    pub(super) fn add_change(
        &mut self,
        time: u64,
        Record { kind, misc, position, body }: Record<'_>,
    ) {
        self.first_change = self.first_change.min(time);
        self.change_bytes += size_of::<Change>() + body.len();
        self.changes.insert(position, Change { kind, misc, position, body: body.into() });
        self.add(time, Turn::Change { position });
    }

    fn add(&mut self, time: u64, turn: Turn) {
        self.latest = self.latest.max(time);
        self.waiting.push(Waiting { time, turn });
    }

    /// Returns whether half of the records must be taken, so that memory stays bounded.
    pub(super) fn is_full(&self) -> bool {
        size_of::<Waiting>() * self.waiting.len() + self.change_bytes >= self.max_bytes
    }

    /// Ends a round. Moves the records whose turn it is to `ready`: a change after all earlier samples and before all
    /// later ones, samples between two changes in any order.
    pub(super) fn end_round(&mut self, ready: &mut Vec<Turn>) {
        let until = std::mem::replace(&mut self.complete_until, self.latest);
        let has_change = self.first_change <= until;
        if has_change {
            self.waiting.sort_by_key(|record| record.time);
        }
        self.waiting.retain(|record| {
            if record.time <= until {
                ready.push(record.turn);
            }
            record.time > until
        });
        if has_change {
            self.find_first_change();
        }
    }

    /// Moves the first half of the records to `ready`, in order.
    pub(super) fn take_half(&mut self, ready: &mut Vec<Turn>) {
        self.waiting.sort_by_key(|record| record.time);
        let half = self.waiting.len().div_ceil(2);
        ready.extend(self.waiting.drain(..half).map(|record| record.turn));
        self.find_first_change();
    }

    /// Moves all records to `ready`, in order.
    pub(super) fn take_all(&mut self, ready: &mut Vec<Turn>) {
        self.waiting.sort_by_key(|record| record.time);
        ready.extend(self.waiting.drain(..).map(|record| record.turn));
        self.first_change = u64::MAX;
    }

    fn find_first_change(&mut self) {
        let changes =
            self.waiting.iter().filter(|record| matches!(record.turn, Turn::Change { .. }));
        self.first_change = changes.map(|record| record.time).min().unwrap_or(u64::MAX);
    }

    /// Removes a change whose turn it is.
    pub(super) fn take_change(&mut self, position: u64) -> Option<Change> {
        let change = self.changes.remove(&position)?;
        self.change_bytes -= size_of::<Change>() + change.body.len();
        Some(change)
    }

    /// The numbers of the stacks of all waiting samples.
    pub(super) fn stacks(&mut self) -> impl Iterator<Item = &mut u32> {
        self.waiting.iter_mut().filter_map(|record| match &mut record.turn {
            Turn::Sample { stack, .. } => Some(stack),
            Turn::Change { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends a round.
    const MARK: (u64, u32) = (0, 0);

    /// Names from here on are changes.
    const CHANGE: u32 = 100;

    fn add(turns: &mut Turns, (time, name): (u64, u32)) {
        if name >= CHANGE {
            let record = Record { kind: 3, misc: 0, position: name.into(), body: &[] };
            turns.add_change(time, record);
        } else {
            turns.add_sample(time, name, 1);
        }
    }

    /// Returns the names of records, which are pairs of time and name, in their turn.
    fn in_order(records: &[(u64, u32)], max_waiting: usize) -> Vec<u64> {
        let mut turns = Turns { max_bytes: max_waiting * size_of::<Waiting>(), ..Turns::default() };
        let mut ready = Vec::new();
        for &record in records {
            if record == MARK {
                turns.end_round(&mut ready);
                continue;
            }
            add(&mut turns, record);
            if turns.is_full() {
                turns.take_half(&mut ready);
            }
        }
        turns.take_all(&mut ready);
        let name = |turn: &Turn| match *turn {
            Turn::Sample { stack, .. } => stack.into(),
            Turn::Change { position } => position,
        };
        let names = ready.iter().map(name).collect();
        for turn in ready {
            if let Turn::Change { position } = turn {
                assert!(turns.take_change(position).is_some());
            }
        }
        assert_eq!((turns.change_bytes, turns.changes.len()), (0, 0));
        names
    }

    #[test]
    fn a_round_waits_for_the_one_after() {
        let records = [(5, 1), (9, 2), (3, 103), MARK, (8, 104), (12, 5), MARK, (10, 6)];
        assert_eq!(in_order(&records, 1000), [103, 1, 104, 2, 6, 5]);
    }

    #[test]
    fn records_of_one_time_keep_their_order() {
        let records = [(5, 1), (5, 102), (4, 3), (5, 4)];
        assert_eq!(in_order(&records, 1000), [3, 1, 102, 4]);
    }

    /// A round of any length takes no more than the limit.
    #[test]
    fn half_of_the_records_are_taken_at_the_limit() {
        let records = [(5, 1), (5, 2), (4, 3), (5, 4), (1, 5), (2, 6)];
        assert_eq!(in_order(&records, 4), [3, 1, 5, 6, 2, 4]);
    }

    /// Every change stands after the samples before it and before those after it, in any arrangement of buffers.
    #[test]
    fn changes_come_between_the_samples_of_their_time() {
        for seed in 1..200_u64 {
            let time_of = |name: u32| 1 + u64::from(name % CHANGE) * seed % 97;
            let mut names: Vec<u32> = (1..60).chain(CHANGE + 60..CHANGE + 70).collect();
            names.sort_by_key(|&name| (time_of(name) / 30, name * 7 % 13));
            let mut records = Vec::new();
            for name in names {
                let is_new_round =
                    records.last().is_some_and(|&(time, _)| time / 30 != time_of(name) / 30);
                if is_new_round {
                    records.push(MARK);
                }
                records.push((time_of(name), name));
            }
            let order = in_order(&records, 1000);
            assert_eq!(order.len(), 69);
            for (place, &change) in order.iter().enumerate() {
                let time = |name: u64| time_of(u32::try_from(name).unwrap());
                if change >= u64::from(CHANGE) {
                    assert!(order[..place].iter().all(|&name| time(name) <= time(change)));
                    assert!(order[place..].iter().all(|&name| time(name) >= time(change)));
                }
            }
        }
    }
}
