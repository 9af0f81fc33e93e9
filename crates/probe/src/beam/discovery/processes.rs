//! Finds the table of all processes of the VM, and the offsets of a process's id and of the end of its stack.
//!
//! The table is an array of pointers, mostly to processes, whose first word is a pid. Every stack ends with the
//! return address at which a process exits, so that only the field for its end points right behind that address.

use std::collections::HashSet;

use super::{
    evidence::{Evidence, Unclear, only},
    exports::Exports,
    shared_code::SharedCode,
    static_data::{DataWord, StaticData},
};
use crate::{
    beam::pids::{Pids, Slot, is_pid},
    node::ReadMemory,
};

const TABLE: &str = "table of processes";
const PIDS: &str = "form of pids";
const ID: &str = "id of a process";
const HEND: &str = "end of a process's stack";
const HEAP: &str = "heap of a process";

const EXPORTED: &str = "erts_proc";

/// Limit of examined entries. A table has at least 1,024.
const ENTRIES: usize = 16 << 10;
const FEWEST_ENTRIES: usize = 1024;

/// Entries to read first: they rule out nearly every pointer to something else.
const FIRST_ENTRIES: usize = 512;

/// Limit of examined processes: enough to tell every reading from chance.
const MOST_PROCESSES: usize = 400;

/// Processes to examine first, because each look at a word reads memory.
const FEW_PROCESSES: usize = 32;

/// Minimum of processes in a table. A VM without any application has about 40.
const FEWEST_PROCESSES: usize = 8;

/// Words of a process to examine. The fields are in the first 26 words until OTP 29; the sampler reads at most 64.
const WORDS: usize = 64;

/// Share of the processes that must agree. The others are running, being collected or about to exit.
const AGREEMENT: f64 = 0.9;

/// Words of the table's head, from the pointer to the entries on.
const HEAD_WORDS: usize = 16;

/// Facts about the processes.
#[derive(Clone, Debug)]
pub(super) struct Processes {
    /// Address of the table's entries.
    entries: u64,
    pub(super) pids: Pids,
    /// Offset of the pid.
    pub(super) id: u32,
    /// Offset of the end of the stack.
    pub(super) hend: u32,
}

impl Processes {
    /// Returns whether a process is at `address`: the table has it at the index in its pid.
    pub(super) fn has(&self, memory: &impl ReadMemory, address: u64) -> bool {
        let is_process = || {
            let term = memory
                .word(address.checked_add(self.id.into())?)
                .ok()
                .filter(|term| is_pid(*term))?;
            let entry = self.entries.checked_add(8 * self.pids.place(term))?;
            memory.word(entry).ok().map(|found| found == address)
        };
        address.is_multiple_of(8) && is_process() == Some(true)
    }
}

/// A process with its words.
struct Seen {
    slot: usize,
    words: Vec<u64>,
}

struct Table {
    /// Address of the pointer to the entries.
    at: u64,
    /// Address of the entries.
    address: u64,
    entries: Vec<u64>,
}

/// Finds the table and the fields. `normal_exit` is the return address at the end of every stack.
pub(super) fn find(
    memory: &impl ReadMemory,
    exports: &Exports,
    data: &StaticData,
    shared: &SharedCode,
    normal_exit: u64,
) -> Result<(Processes, Vec<Evidence>), Unclear> {
    let (table, how) = find_table(memory, exports, data)?;
    let seen = processes_of(memory, &table.entries);
    let id = id_offset(&seen)?;
    let hend = hend_offset(memory, &seen, shared, normal_exit)?;
    check_heaps(&seen, shared, hend)?;
    let slots: Vec<Slot> = seen
        .iter()
        .map(|process| Slot { index: process.slot as u64, term: process.words[id as usize / 8] })
        .collect();
    let table_head: Vec<u64> = data.words_from(table.at).take(HEAD_WORDS).collect();
    let pids = Pids::read(&slots, &table_head).map_err(|seen| Unclear::new(PIDS, seen))?;
    let evidence = vec![
        Evidence::new(TABLE, format!("{how}; {} of its processes were read", seen.len())),
        Evidence::new(PIDS, pids.to_string()),
        Evidence::new(ID, format!("at {id}: a pid of its own in every process")),
        Evidence::new(
            HEND,
            format!("at {hend}: points behind the root of the stack in every process"),
        ),
    ];
    Ok((Processes { entries: table.address, pids, id, hend }, evidence))
}

fn find_table(
    memory: &impl ReadMemory,
    exports: &Exports,
    data: &StaticData,
) -> Result<(Table, String), Unclear> {
    let exported = exports.span(EXPORTED);
    let is_candidate = |word: &DataWord| match exported {
        Some((start, size)) => (start..start.saturating_add(size)).contains(&word.at),
        None => true,
    };
    let pointers = data.pointers(8).filter(is_candidate);
    let tables: Vec<Table> = pointers.filter_map(|word| table_at(memory, word)).collect();
    let none = "no pointer in the executable's data leads to a table of processes";
    let table = only(TABLE, tables, none, |table| data.place(table.at))?;
    let source = if exported.is_some() { "in erts_proc" } else { "the only one in the data" };
    let how = format!("{}, {source}", data.place(table.at));
    Ok((table, how))
}

/// The table that `word` points to. `None` if it points to something else.
fn table_at(memory: &impl ReadMemory, word: DataWord) -> Option<Table> {
    let first = words_at(memory, word.value, FIRST_ENTRIES)?;
    if !lead_to_processes(memory, &first) {
        return None;
    }
    let mut count = ENTRIES;
    let entries = loop {
        match words_at(memory, word.value, count) {
            Some(entries) => break entries,
            None if count > FEWEST_ENTRIES => count /= 2,
            None => return None,
        }
    };
    (lead_to_processes(memory, &entries) && processes_in(&entries) >= FEWEST_PROCESSES)
        .then_some(Table { at: word.at, address: word.value, entries })
}

/// Returns whether the `entries` point to processes, at least to one. A slot that is being filled points to none.
fn lead_to_processes(memory: &impl ReadMemory, entries: &[u64]) -> bool {
    const SAMPLE: usize = 64;
    let (mut processes, mut others) = (0, 0);
    for &entry in entries.iter().filter(|&&entry| entry != 0).take(SAMPLE) {
        let leads = entry.is_multiple_of(8) && memory.word(entry).is_ok_and(is_pid);
        if leads {
            processes += 1;
        } else {
            others += 1;
        }
        if others > 1 + processes / 8 {
            return false;
        }
    }
    processes > 0
}

fn processes_in(entries: &[u64]) -> usize {
    entries.iter().filter(|&&entry| entry != 0).count()
}

fn processes_of(memory: &impl ReadMemory, entries: &[u64]) -> Vec<Seen> {
    let used = entries.iter().enumerate().filter(|(_, entry)| **entry != 0);
    let seen = used.filter_map(|(slot, &entry)| {
        let words = words_at(memory, entry, WORDS)?;
        words.iter().any(|&word| is_pid(word)).then_some(Seen { slot, words })
    });
    seen.take(MOST_PROCESSES).collect()
}

/// The offset at which nearly every process has a pid, and no two the same. Some may have exited since the table
/// was read.
fn id_offset(seen: &[Seen]) -> Result<u32, Unclear> {
    let own_pids = |index: usize| {
        let words = seen.iter().map(|process| process.words[index]);
        words.filter(|&word| is_pid(word)).collect::<HashSet<u64>>().len()
    };
    let found: Vec<usize> =
        (0..WORDS).filter(|&index| agree(own_pids(index), seen.len())).collect();
    let none = format!("in {} processes no word is a pid of their own", seen.len());
    only(ID, found, &none, |index| (8 * index).to_string()).map(offset)
}

/// The offset at which nearly every process points right behind `normal_exit`. With frame pointers a word lies
/// between them.
fn hend_offset(
    memory: &impl ReadMemory,
    seen: &[Seen],
    shared: &SharedCode,
    normal_exit: u64,
) -> Result<u32, Unclear> {
    let is_end = |process: &Seen, index: usize| {
        let (end, stop) = (process.words[index], field(process, shared.stop));
        let may_be = end.is_multiple_of(8) && stop.is_some_and(|stop| 0 < stop && stop <= end);
        let below = || words_at(memory, end.checked_sub(16)?, 2);
        may_be && below().is_some_and(|words| words.contains(&normal_exit))
    };
    let agreeing =
        |index: usize, seen: &[Seen]| seen.iter().filter(|process| is_end(process, index)).count();
    let few = &seen[..seen.len().min(FEW_PROCESSES)];
    let likely = (0..WORDS).filter(|&index| 2 * agreeing(index, few) >= few.len());
    let counts: Vec<(usize, usize)> = likely.map(|index| (index, agreeing(index, seen))).collect();
    let found = counts.iter().filter(|(_, count)| agree(*count, seen.len())).copied().collect();
    let show = |(index, count): &(usize, usize)| format!("{} in {count}", 8 * index);
    let none = format!(
        "no word of {} processes points behind the root of their stacks (nearest: {})",
        seen.len(),
        counts.iter().map(show).next().unwrap_or_else(|| "none".into())
    );
    only(HEND, found, &none, show).map(|(index, _)| offset(index))
}

fn field(process: &Seen, offset: u32) -> Option<u64> {
    process.words.get(offset as usize / 8).copied()
}

/// Checks that top of heap, top of stack and end of stack are in this order.
fn check_heaps(seen: &[Seen], shared: &SharedCode, hend: u32) -> Result<(), Unclear> {
    let is_ordered = |process: &&Seen| {
        let fields = [shared.htop, shared.stop, hend].map(|offset| field(process, offset));
        matches!(fields, [Some(htop), Some(stop), Some(hend)] if htop <= stop && stop <= hend && htop != 0)
    };
    let ordered = seen.iter().filter(is_ordered).count();
    if agree(ordered, seen.len()) {
        return Ok(());
    }
    let seen = format!(
        "top of heap at {}, of stack at {} and its end at {hend} are in order in {ordered} of {} processes",
        shared.htop,
        shared.stop,
        seen.len()
    );
    Err(Unclear::new(HEAP, seen))
}

fn agree(count: usize, all: usize) -> bool {
    count > 0 && count as f64 >= AGREEMENT * all as f64
}

fn offset(index: usize) -> u32 {
    u32::try_from(8 * index).expect("a few words")
}

fn words_at(memory: &impl ReadMemory, address: u64, count: usize) -> Option<Vec<u64>> {
    let mut bytes = vec![0; 8 * count];
    memory.read(address, &mut bytes).ok()?;
    Some(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}
