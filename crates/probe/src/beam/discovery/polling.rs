//! Finds the word of a scheduler's block that has the running process: the only one that held a process and never
//! held anything else. If nothing runs meanwhile, it is the word before the kind's number, its place in every
//! examined release. The recorder compares it with the processor's register as soon as a process runs
//! ([`crate::beam::check_layout`]).

use std::{thread::sleep, time::Duration};

use super::{
    evidence::{Evidence, Unclear, only},
    processes::Processes,
    schedulers::WORDS,
};
use crate::{beam::pids::is_pid, node::ReadMemory};

const PART: &str = "process of a scheduler";

/// Number of looks at the blocks, and the pause between them.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Looks {
    pub(in super::super) count: usize,
    pub(in super::super) pause: Duration,
}

impl Looks {
    /// The looks at a running VM: some 40 ms in all.
    pub(in super::super) const LIVE: Self = Self { count: 40, pause: Duration::from_millis(1) };
}

/// Number of looks with a process that is enough.
const ENOUGH: usize = 8;

/// Contents of one word of all blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Number of processes, at different looks or in different blocks.
    processes: usize,
    /// True after a value that is neither a process nor nothing.
    has_other: bool,
}

/// Contents of a word at one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Nothing, or a value without significance.
    Nothing,
    /// A process of the table.
    Process,
    Other,
}

/// The offset of the running process in the blocks at `blocks`. `kind` is the offset of the kind's number in a block.
pub(super) fn find_running(
    memory: &impl ReadMemory,
    blocks: &[u64],
    processes: &Processes,
    kind: u32,
    looks: Looks,
) -> Result<(u32, Evidence), Unclear> {
    let has_pid =
        |value: u64| memory.word(value.saturating_add(processes.id.into())).is_ok_and(is_pid);
    let seen = |value: u64| match value {
        0 => Seen::Nothing,
        _ if processes.has(memory, value) => Seen::Process,
        // A process that has just ended, or the pseudo-process of match specifications.
        _ if value.is_multiple_of(8) && has_pid(value) => Seen::Nothing,
        _ => Seen::Other,
    };
    let mut words = [Word::default(); WORDS];
    for look in 0..looks.count {
        for &block in blocks {
            take(memory, block, &seen, &mut words);
        }
        if words.iter().any(|word| !word.has_other && word.processes >= ENOUGH) {
            break;
        }
        if look + 1 < looks.count {
            sleep(looks.pause);
        }
    }
    chosen(&words, kind)
}

fn take(
    memory: &impl ReadMemory,
    block: u64,
    seen: &impl Fn(u64) -> Seen,
    words: &mut [Word; WORDS],
) {
    let mut bytes = [0; 8 * WORDS];
    if memory.read(block, &mut bytes).is_err() {
        return;
    }
    for (word, value) in words.iter_mut().zip(bytes.as_chunks().0) {
        if word.has_other {
            continue;
        }
        match seen(u64::from_le_bytes(*value)) {
            Seen::Process => word.processes += 1,
            Seen::Other => word.has_other = true,
            Seen::Nothing => {}
        }
    }
}

fn chosen(words: &[Word; WORDS], kind: u32) -> Result<(u32, Evidence), Unclear> {
    let places = words.iter().enumerate();
    let seen: Vec<(usize, usize)> = places
        .filter(|(_, word)| !word.has_other && word.processes > 0)
        .map(|(index, word)| (index, word.processes))
        .collect();
    let offset = |index: usize| u32::try_from(8 * index).expect("a few words");
    if seen.is_empty() {
        let before = (kind as usize / 8).checked_sub(1).filter(|index| !words[*index].has_other);
        let index = before.ok_or_else(|| {
            Unclear::new(
                PART,
                "nothing ran, and the word before the kind's number has something else",
            )
        })?;
        let found = format!("at {}, by its place: nothing ran meanwhile", offset(index));
        return Ok((offset(index), Evidence::new(PART, found)));
    }
    let (index, count) =
        only(PART, seen, "", |(index, count)| format!("{} in {count} looks", offset(*index)))?;
    let found = format!("at {}: a process in {count} looks, never anything else", offset(index));
    Ok((offset(index), Evidence::new(PART, found)))
}

#[cfg(test)]
mod tests {
    use super::{WORDS, Word, chosen};

    fn words(seen: &[(usize, usize)], other: &[usize]) -> [Word; WORDS] {
        let mut words = [Word::default(); WORDS];
        for (at, processes) in seen {
            words[*at].processes = *processes;
        }
        for at in other {
            words[*at].has_other = true;
        }
        words
    }

    #[track_caller]
    fn check(seen: &[(usize, usize)], other: &[usize], expected: Result<u32, &str>) {
        match (chosen(&words(seen, other), 176), expected) {
            (Ok((offset, _)), Ok(expected)) => assert_eq!(offset, expected),
            (Err(refused), Err(text)) => assert!(refused.sentence().contains(text), "{refused:?}"),
            (found, _) => panic!("{found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn the_word_that_has_had_processes_only() {
        check(&[(21, 3)], &[0, 1], Ok(168));
        check(&[(21, 3), (6, 1)], &[6], Ok(168));
        check(&[(21, 3), (6, 1)], &[], Err("2 readings: 48 in 1 looks; 168 in 3 looks"));
    }

    #[test]
    fn without_a_running_process_it_is_the_word_before_the_kind() {
        check(&[], &[0, 1], Ok(168));
        check(&[], &[21], Err("something else"));
    }
}
