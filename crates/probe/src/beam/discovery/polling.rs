//! Which word of a scheduler's block has the process that runs: the only one that has had a process, of those that
//! have nothing else. On a VM in which nothing runs meanwhile it is the word before the kind's number, where it is in
//! every release that was examined; the recorder compares it with the processor's register as soon as something
//! runs ([`crate::beam::check_layout`]).

use std::{thread::sleep, time::Duration};

use super::{
    evidence::{Evidence, Unclear, only},
    processes::Processes,
    schedulers::WORDS,
};
use crate::{beam::pids::is_pid, node::ReadMemory};

const WHAT: &str = "process of a scheduler";

/// How often the blocks are looked at.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Looks {
    pub(in super::super) count: usize,
    pub(in super::super) pause: Duration,
}

impl Looks {
    /// Of a VM that runs: some 40 ms together.
    pub(in super::super) const LIVE: Self = Self { count: 40, pause: Duration::from_millis(1) };
}

/// Looks that met a process, after which no more are needed.
const ENOUGH: usize = 8;

/// What one word of all blocks has had.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Processes, at different looks or in different blocks.
    processes: usize,
    /// Something that is neither a process nor nothing.
    has_other: bool,
}

/// What a word has at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Nothing that tells anything.
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
        // A process that has just ended, or the stand-in for match specifications.
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
        .map(|(at, word)| (at, word.processes))
        .collect();
    let offset = |at: usize| u32::try_from(8 * at).expect("a few words");
    if seen.is_empty() {
        let before = (kind as usize / 8).checked_sub(1).filter(|at| !words[*at].has_other);
        let at = before.ok_or_else(|| {
            Unclear::new(
                WHAT,
                "nothing ran, and the word before the kind's number has something else",
            )
        })?;
        let found = format!("at {}, by its place: nothing ran meanwhile", offset(at));
        return Ok((offset(at), Evidence::new(WHAT, found)));
    }
    let (at, count) =
        only(WHAT, seen, "", |(at, count)| format!("{} in {count} looks", offset(*at)))?;
    let found = format!("at {}: a process in {count} looks, never anything else", offset(at));
    Ok((offset(at), Evidence::new(WHAT, found)))
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
    fn where_nothing_ran_it_is_the_word_before_the_kind() {
        check(&[], &[0, 1], Ok(168));
        check(&[], &[21], Err("something else"));
    }
}
