//! The distinct stacks of a recording, each with its number and its counts. A waiting sample needs no more than the
//! number.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::super::tally::Counted;

/// Limit of distinct stacks before they are named. Naming merges stacks that differ in addresses only.
const MAX_STACKS: usize = 200_000;

/// Size limit of distinct stacks. With 127 frames each, the kernel's usual limit, [`MAX_STACKS`] stacks would take 200
/// MB.
const MAX_BYTES: usize = 64 << 20;

/// The place of a stack's bytes.
#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u64,
    number: u32,
    start: u32,
    size: u32,
}

impl Place {
    fn bytes<'a>(&self, all: &'a [u8]) -> &'a [u8] {
        &all[self.start as usize..][..self.size as usize]
    }
}

/// A stack with the samples whose turn has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stack {
    start: u32,
    size: u32,
    pub(super) tid: u32,
    /// Number of the thread's name in these samples.
    pub(super) name: u32,
    pub(super) counted: Counted,
    /// True if it stands in the list of stacks with samples.
    is_listed: bool,
}

/// Distinct stacks by their bytes, which are equal for equal stacks of one event, process and thread.
#[derive(Debug, Default)]
pub(super) struct DistinctStacks {
    index: HashTable<Place>,
    bytes: Vec<u8>,
    stacks: Vec<Stack>,
    /// Numbers of the stacks with samples.
    counted: Vec<u32>,
}

impl DistinctStacks {
    /// Returns the number of a stack of thread `tid`.
    pub(super) fn number_of(&mut self, bytes: &[u8], tid: u32) -> u32 {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let hash = hasher.finish();
        let is_same = |place: &Place| place.hash == hash && place.bytes(&self.bytes) == bytes;
        if let Some(known) = self.index.find(hash, is_same) {
            return known.number;
        }
        let number = to_u32(self.stacks.len());
        let (start, size) = (to_u32(self.bytes.len()), to_u32(bytes.len()));
        self.bytes.extend_from_slice(bytes);
        let counted = Counted::default();
        self.stacks.push(Stack { start, size, tid, name: 0, counted, is_listed: false });
        let place = Place { hash, number, start, size };
        self.index.insert_unique(hash, place, |place| place.hash);
        number
    }

    /// Returns whether stacks must be removed, so that memory stays bounded.
    pub(super) fn is_full(&self) -> bool {
        self.stacks.len() >= MAX_STACKS || self.bytes.len() >= MAX_BYTES
    }

    /// Returns whether stacks take half of what they may.
    pub(super) fn is_half_full(&self) -> bool {
        self.stacks.len() >= MAX_STACKS / 2 || self.bytes.len() >= MAX_BYTES / 2
    }

    /// Returns the stack with this number.
    pub(super) fn get(&self, number: u32) -> Stack {
        self.stacks[number as usize]
    }

    /// Returns the bytes of a stack.
    pub(super) fn bytes_of(&self, stack: Stack) -> &[u8] {
        &self.bytes[stack.start as usize..][..stack.size as usize]
    }

    /// Adds a sample whose thread has the name with number `name`. Returns false if the stack has samples of another
    /// name: these must be removed first.
    pub(super) fn count(&mut self, number: u32, name: u32, counted: Counted) -> bool {
        let stack = &mut self.stacks[number as usize];
        if stack.counted.count == 0 {
            stack.name = name;
        }
        if !std::mem::replace(&mut stack.is_listed, true) {
            self.counted.push(number);
        }
        let is_same = stack.name == name;
        if is_same {
            stack.counted.add(counted);
        }
        is_same
    }

    /// Empties the list of stacks with samples, and returns it.
    pub(super) fn take_counted(&mut self) -> Vec<u32> {
        for &number in &self.counted {
            self.stacks[number as usize].is_listed = false;
        }
        std::mem::take(&mut self.counted)
    }

    /// Removes the samples of a stack, and returns the stack with them.
    pub(super) fn take(&mut self, number: u32) -> Stack {
        let stack = &mut self.stacks[number as usize];
        let taken = *stack;
        stack.counted = Counted::default();
        taken
    }

    /// Removes all stacks but those with these numbers, and gives these new numbers. No stack may have samples.
    pub(super) fn keep_only<'a>(&mut self, numbers: impl Iterator<Item = &'a mut u32>) {
        let old = std::mem::take(self);
        let mut renumbered = vec![u32::MAX; old.stacks.len()];
        for number in numbers {
            let new = &mut renumbered[*number as usize];
            if *new == u32::MAX {
                let stack = old.stacks[*number as usize];
                *new = self.number_of(old.bytes_of(stack), stack.tid);
            }
            *number = *new;
        }
    }
}

/// Converts a number below the limits of this table.
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("the table is removed before it has 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Counted = Counted { weight: 5, count: 1 };

    #[test]
    fn equal_stacks_are_counted_together() {
        let mut stacks = DistinctStacks::default();
        let numbers = [&b"one"[..], b"other", b"one"].map(|bytes| stacks.number_of(bytes, 7));
        assert_eq!(numbers, [0, 1, 0]);
        assert!(numbers.iter().all(|&number| stacks.count(number, 3, ONE)));
        assert!(!stacks.count(0, 4, ONE));
        assert_eq!(stacks.take_counted(), [0, 1]);
        assert_eq!(stacks.take(0).counted, Counted { weight: 10, count: 2 });
        assert!(stacks.count(0, 4, ONE));
        assert_eq!((stacks.get(0).name, stacks.get(0).tid), (4, 7));
    }

    #[test]
    fn kept_stacks_have_new_numbers() {
        let mut stacks = DistinctStacks::default();
        let mut numbers: Vec<u32> = (0..10_u8).map(|byte| stacks.number_of(&[byte], 7)).collect();
        numbers.retain(|number| number % 3 == 1);
        numbers.push(4);
        stacks.keep_only(numbers.iter_mut());
        assert_eq!(numbers, [0, 1, 2, 1]);
        assert_eq!(stacks.bytes_of(stacks.get(1)), [4]);
        assert_eq!((stacks.number_of(&[7], 7), stacks.number_of(&[5], 7)), (2, 3));
    }
}
