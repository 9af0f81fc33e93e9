//! The blocks of the schedulers (`ErtsSchedulerData`): one array per kind, with the same distance between two
//! blocks in all of them.
//!
//! A block of a normal scheduler points to its registers, below which the last call from JIT code into C left its
//! return address: no other structure does that. Blocks of dirty schedulers have the number of their kind and count
//! from 1.

use std::collections::HashSet;

use rabbitscope_profiles::ThreadKind;

use super::{
    evidence::{Evidence, Unclear, only},
    exports::Exports,
    static_data::StaticData,
};
use crate::{arch::machine::calls, beam::CodeMap, node::ReadMemory};

const NORMAL: &str = "blocks of schedulers";
const DISTANCE: &str = "distance of schedulers";
const DIRTY: &str = "blocks of dirty schedulers";
const NUMBER: &str = "number of a scheduler";

/// Alignment of blocks: they lie on cache lines.
const ALIGNMENT: u64 = 64;

/// Distances to try. A block has some 40 KiB until OTP 29.
const DISTANCES: std::ops::Range<u64> = 4 << 10..256 << 10;

/// Words of a block to examine, as many as the sampler copies ([`crate::kernel_interface::SNAPSHOT_WORDS`]).
pub(super) const WORDS: usize = 64;

/// Kinds of schedulers: thread kind, name of the exported pointer, and the number of the kind (`ErtsSchedType` of
/// the emulator).
const KINDS: [(ThreadKind, &str, u64); 3] = [
    (ThreadKind::Scheduler, "erts_aligned_scheduler_data", 0),
    (ThreadKind::DirtyCpu, "erts_aligned_dirty_cpu_scheduler_data", 1),
    (ThreadKind::DirtyIo, "erts_aligned_dirty_io_scheduler_data", 2),
];

/// Addresses of the blocks and offsets of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// First block of each kind.
    pub(super) bases: [(ThreadKind, u64); 3],
    /// Bytes from one block to the next.
    pub(super) distance: u64,
    /// Offset of the kind's number.
    pub(super) kind: u32,
    /// Offset of the number among the normal schedulers.
    pub(super) number: u32,
    /// Offset of the number among the dirty schedulers of the kind.
    pub(super) dirty_number: u32,
}

/// The number of threads of each kind, in the order of [`KINDS`].
pub(super) type Counts = [u64; 3];

/// A possible array of blocks of dirty schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DirtyBlocks {
    base: u64,
    distance: u64,
    kind: usize,
    number: usize,
}

/// The inputs of the search.
pub(super) struct Search<'a, M> {
    pub(super) memory: &'a M,
    pub(super) exports: &'a Exports,
    pub(super) data: &'a StaticData,
    pub(super) code: &'a CodeMap,
    /// Offset of the pointer to the registers.
    pub(super) registers: u32,
    pub(super) counts: Counts,
}

impl<M: ReadMemory> Search<'_, M> {
    /// Finds the blocks of all kinds.
    pub(super) fn blocks(&self) -> Result<(Blocks, Vec<Evidence>), Unclear> {
        let (base, distance) = self.normal_blocks()?;
        let (cpu, io) = self.dirty_blocks(distance)?;
        let any = io.or(cpu);
        let distance = distance.or(any.map(|blocks| blocks.distance)).unwrap_or(ALIGNMENT);
        let (kind, dirty_number) = any.map_or((0, 0), |blocks| (blocks.kind, blocks.number));
        let address = |blocks: Option<DirtyBlocks>| blocks.map_or(0, |blocks| blocks.base);
        let bases = [base, address(cpu), address(io)];
        let number = self.number(bases, distance, kind)?;
        let places = [
            (NORMAL, base, self.counts[0]),
            (DIRTY, address(cpu), self.counts[1]),
            (DIRTY, address(io), self.counts[2]),
        ];
        let places =
            places.into_iter().filter(|(.., count)| *count > 0).map(|(part, base, count)| {
                Evidence::new(part, format!("{base:#x}, for {count} threads"))
            });
        let mut evidence: Vec<Evidence> = places.collect();
        evidence.push(Evidence::new(DISTANCE, format!("{distance} bytes")));
        evidence.push(Evidence::new(
            NUMBER,
            format!("at {} and {}, kind at {}", 8 * number, 8 * dirty_number, 8 * kind),
        ));
        let kinds = KINDS.map(|(kind, ..)| kind);
        let blocks = Blocks {
            bases: [(kinds[0], bases[0]), (kinds[1], bases[1]), (kinds[2], bases[2])],
            distance,
            kind: offset(kind),
            number: offset(number),
            dirty_number: offset(dirty_number),
        };
        Ok((blocks, evidence))
    }

    /// The first block of the normal schedulers, and the distance if there are two or more.
    fn normal_blocks(&self) -> Result<(u64, Option<u64>), Unclear> {
        let bases: Vec<u64> =
            self.candidates(0).into_iter().filter(|&base| self.is_normal(base)).collect();
        let none =
            "no variable points to a block whose registers have a call from JIT code below them";
        let base = only(NORMAL, bases, none, |base| format!("{base:#x}"))?;
        if self.counts[0] < 2 {
            return Ok((base, None));
        }
        let fits = |distance: &u64| {
            (1..self.counts[0]).all(|index| self.is_normal(base.saturating_add(index * distance)))
        };
        // A multiple of the distance fits fewer schedulers, so that the least distance that fits all is the right
        // one.
        let distance = distances().find(fits);
        let seen = format!("none fits {} schedulers from {base:#x} on", self.counts[0]);
        distance.map(|distance| (base, Some(distance))).ok_or_else(|| Unclear::new(DISTANCE, seen))
    }

    /// Returns whether `block` may be the block of a normal scheduler.
    fn is_normal(&self, block: u64) -> bool {
        let word = |address: u64| self.memory.word(address).ok();
        let registers = word(block.saturating_add(self.registers.into()));
        let Some(registers) =
            registers.filter(|place| *place != 0 && place.is_multiple_of(ALIGNMENT))
        else {
            return false;
        };
        calls::has_called_c(self.memory, registers, |address| self.code.name_at(address).is_some())
    }

    /// The blocks of both kinds of dirty schedulers, which have their numbers at the same offsets.
    fn dirty_blocks(&self, distance: Option<u64>) -> Result<DirtyPair, Unclear> {
        let io = self.dirty_of_kind(2, distance);
        let known = distance.or_else(|| io.first().map(|blocks| blocks.distance));
        let cpu = self.dirty_of_kind(1, known);
        let mut pairs = pairs_that_agree(&cpu, &io);
        if self.counts[1] == 0 || self.counts[2] == 0 {
            pairs = cpu.iter().map(|blocks| (Some(*blocks), None)).collect();
            pairs.extend(io.iter().map(|blocks| (None, Some(*blocks))));
        }
        if self.counts[1] == 0 && self.counts[2] == 0 {
            return Ok((None, None));
        }
        // The blocks matter more than the places of their numbers: of several places the nearest ones win.
        pairs
            .sort_by_key(|(cpu, io)| cpu.or(*io).map(|blocks| blocks.kind.abs_diff(blocks.number)));
        let mut seen = HashSet::new();
        let place =
            |array: &Option<DirtyBlocks>| array.map(|blocks| (blocks.base, blocks.distance));
        pairs.retain(|(cpu, io)| seen.insert((place(cpu), place(io))));
        let none = format!("{} and {} readings, no two agree", cpu.len(), io.len());
        only(DIRTY, pairs, &none, |(cpu, io)| {
            let texts: Vec<String> = cpu.iter().chain(io).map(DirtyBlocks::text).collect();
            texts.join(" with ")
        })
    }

    /// All possible arrays of blocks of a kind of dirty schedulers.
    fn dirty_of_kind(&self, kind: usize, distance: Option<u64>) -> Vec<DirtyBlocks> {
        if self.counts[kind] == 0 {
            return Vec::new();
        }
        let candidates = self.candidates(kind).into_iter();
        candidates.flat_map(|base| self.dirty_from(base, kind, distance)).collect()
    }

    fn dirty_from(&self, base: u64, kind: usize, distance: Option<u64>) -> Vec<DirtyBlocks> {
        let Some(first) = self.block(base) else { return Vec::new() };
        let places = places_of(&first, KINDS[kind].2, 1, pairs_of_places());
        if places.is_empty() {
            return Vec::new();
        }
        let tried = match distance {
            Some(known) => vec![known],
            None if self.counts[kind] > 1 => self.likely_distances(base, &places, KINDS[kind].2),
            // A single block needs no distance.
            None => vec![ALIGNMENT],
        };
        let blocks = |distance: u64| {
            let fitting = self.places_in_all(base, kind, distance, places.clone());
            fitting.into_iter().map(move |(kind, number)| DirtyBlocks {
                base,
                distance,
                kind,
                number,
            })
        };
        tried.into_iter().flat_map(blocks).collect()
    }

    /// Distances at which the second block has its numbers at one of `places`.
    fn likely_distances(&self, base: u64, places: &[Places], type_number: u64) -> Vec<u64> {
        let mut bytes = vec![0; usize::try_from(DISTANCES.end).expect("a few hundred KiB")];
        while self.memory.read(base, &mut bytes).is_err() && bytes.len() > 8 * WORDS {
            bytes.truncate(bytes.len() / 2);
        }
        let words: Vec<u64> =
            bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let fits = |distance: &u64| {
            let first = usize::try_from(distance / 8).expect("within the bytes");
            let block = words.get(first..first + WORDS);
            block.is_some_and(|words| {
                !places_of(words, type_number, 2, places.iter().copied()).is_empty()
            })
        };
        distances().filter(fits).collect()
    }

    /// The `places` that fit all blocks.
    fn places_in_all(
        &self,
        base: u64,
        kind: usize,
        distance: u64,
        mut places: Vec<Places>,
    ) -> Vec<Places> {
        for index in 1..self.counts[kind] {
            let block = base.checked_add(index * distance).and_then(|address| self.block(address));
            let Some(block) = block.filter(|_| !places.is_empty()) else { return Vec::new() };
            places = places_of(&block, KINDS[kind].2, index + 1, places.into_iter());
        }
        places
    }

    /// The place of the number of normal schedulers, absent in dirty ones. Other counters look alike, so that the
    /// place nearest to the kind's number wins.
    fn number(&self, bases: [u64; 3], distance: u64, kind: usize) -> Result<usize, Unclear> {
        let mut places: Vec<usize> = (0..WORDS).filter(|&place| place != kind).collect();
        for (own, base) in bases.into_iter().enumerate().filter(|(_, base)| *base != 0) {
            for index in 0..self.counts[own] {
                let block = self.block(base + index * distance);
                let block = block.ok_or_else(|| Unclear::new(NUMBER, "a block cannot be read"))?;
                let expected = if own == 0 { index + 1 } else { 0 };
                places.retain(|&place| low(block[place]) == expected);
                if low(block[kind]) != KINDS[own].2 {
                    places.clear();
                }
            }
        }
        let nearest = places.into_iter().min_by_key(|place| place.abs_diff(kind));
        nearest
            .ok_or_else(|| Unclear::new(NUMBER, "no word has it in the blocks of all schedulers"))
    }

    /// Addresses that may be the first block of a kind.
    fn candidates(&self, kind: usize) -> Vec<u64> {
        match self.exports.address(KINDS[kind].1) {
            Some(variable) => {
                self.memory.word(variable).into_iter().filter(|address| *address != 0).collect()
            }
            None => self.data.pointers(ALIGNMENT).map(|word| word.value).collect(),
        }
    }

    fn block(&self, address: u64) -> Option<[u64; WORDS]> {
        let mut bytes = [0; 8 * WORDS];
        self.memory.read(address, &mut bytes).ok()?;
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Some(words)
    }
}

impl DirtyBlocks {
    fn text(&self) -> String {
        let Self { base, distance, kind, number } = self;
        format!("{base:#x} every {distance} bytes, kind at {}, number at {}", 8 * kind, 8 * number)
    }
}

/// The lower half of a word: fields are whole words or half ones.
fn low(word: u64) -> u64 {
    word & 0xffff_ffff
}

fn distances() -> impl Iterator<Item = u64> {
    DISTANCES.step_by(usize::try_from(ALIGNMENT).expect("a small number"))
}

/// Indices of the word with the kind's number and of the word with the scheduler's number.
type Places = (usize, usize);

/// The `places` that have these numbers in `block`.
fn places_of(
    block: &[u64],
    kind: u64,
    number: u64,
    places: impl Iterator<Item = Places>,
) -> Vec<Places> {
    places.filter(|&(one, other)| low(block[one]) == kind && low(block[other]) == number).collect()
}

type DirtyPair = (Option<DirtyBlocks>, Option<DirtyBlocks>);

fn pairs_that_agree(cpu: &[DirtyBlocks], io: &[DirtyBlocks]) -> Vec<DirtyPair> {
    let agree = |one: &DirtyBlocks, other: &DirtyBlocks| {
        (one.kind, one.number, one.distance) == (other.kind, other.number, other.distance)
            && one.base != other.base
    };
    let pairs = cpu.iter().flat_map(|cpu| io.iter().map(move |io| (cpu, io)));
    pairs.filter(|(cpu, io)| agree(cpu, io)).map(|(cpu, io)| (Some(*cpu), Some(*io))).collect()
}

fn pairs_of_places() -> impl Iterator<Item = Places> {
    let pairs = (0..WORDS).flat_map(|one| (0..WORDS).map(move |other| (one, other)));
    pairs.filter(|(one, other)| one != other)
}

fn offset(index: usize) -> u32 {
    u32::try_from(8 * index).expect("a few words")
}
