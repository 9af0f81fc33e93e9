//! Compares the kernel of a recording with the running one: the same build, at the same place in memory.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
};

use rabbitscope_machine::kernel_setting;
use rabbitscope_profiles::RecordedKernel;

use crate::permission::{KERNEL_SYMBOLS, raise};

/// Notes of the running kernel, its build id among them.
const NOTES: &str = "/sys/kernel/notes";

/// Symbols of the running kernel (`man 5 proc_kallsyms`).
const SYMBOLS: &str = "/proc/kallsyms";

/// Limit for the size of the symbols, which have 10 MB in Debian's kernel.
const MAX_LIST_BYTES: u64 = 1 << 27;

/// Type of a note with a build id (`NT_GNU_BUILD_ID`).
const BUILD_ID: u32 = 3;

/// Returns whether the recorded kernel runs now. Without a build id its release decides, together with a known
/// place: on many machines every kernel begins at the same address.
pub(super) fn is(recorded: &RecordedKernel) -> bool {
    let reference = recorded.reference.as_ref().filter(|(_, address)| *address > 0);
    let is_place = reference.map(|(symbol, address)| address_of(symbol) == Some(*address));
    match &recorded.build_id {
        Some(id) => {
            is_place != Some(false) && running_build_id().is_some_and(|own| is_same(&own, id))
        }
        None => is_place == Some(true) && recorded.release == running_release(),
    }
}

fn running_release() -> Option<String> {
    kernel_setting("osrelease")
}

fn is_same(own: &[u8], stated: &[u8]) -> bool {
    stated.starts_with(own) && stated[own.len()..].iter().all(|&byte| byte == 0)
}

fn running_build_id() -> Option<Vec<u8>> {
    let mut notes = Vec::new();
    File::open(NOTES).ok()?.take(1 << 16).read_to_end(&mut notes).ok()?;
    build_id_in(&notes)
}

/// Parses notes: lengths of name and content, type, name and content, each padded to four bytes (`man 5 elf`).
fn build_id_in(notes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = notes;
    loop {
        let (header, after) = rest.split_first_chunk::<12>()?;
        let word = |start: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[start + byte]));
        let length = |start: usize| usize::try_from(word(start)).ok();
        let (name, content) = (length(0)?, length(4)?);
        let (name, after) = after.split_at_checked(name.checked_next_multiple_of(4)?)?;
        let (filled, after) = after.split_at_checked(content.checked_next_multiple_of(4)?)?;
        if word(8) == BUILD_ID && name.starts_with(b"GNU") {
            return filled.get(..content).map(<[u8]>::to_vec).filter(|id| !id.is_empty());
        }
        rest = after;
    }
}

fn address_of(symbol: &str) -> Option<u64> {
    let _raised = raise(KERNEL_SYMBOLS);
    let list = BufReader::new(File::open(SYMBOLS).ok()?.take(MAX_LIST_BYTES));
    list.lines().map_while(Result::ok).find_map(|line| {
        let mut fields = line.split_whitespace();
        let (address, _kind, name) = (fields.next()?, fields.next()?, fields.next()?);
        (name == symbol).then(|| u64::from_str_radix(address, 16).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_id_is_one_of_the_notes() {
        let note = |kind: u32, name: &[u8], content: &[u8]| {
            let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
            let filled = |bytes: &[u8]| [bytes, &vec![0; bytes.len().wrapping_neg() % 4]].concat();
            [
                &length(name)[..],
                &length(content),
                &kind.to_le_bytes(),
                &filled(name),
                &filled(content),
            ]
            .concat()
        };
        let notes = [note(1, b"Xen\0", b"abcde"), note(3, b"GNU\0", &[7; 20])].concat();
        assert_eq!(build_id_in(&notes), Some(vec![7; 20]));
        assert_eq!(build_id_in(&notes[..notes.len() - 1]), None);
        assert_eq!(build_id_in(&[0xff; 64]), None);
    }

    #[test]
    fn another_kernel_differs_in_its_build_or_place() {
        let Some(own) = running_build_id() else { return };
        let kernel = |id: &[u8], reference| RecordedKernel {
            build_id: Some(id.into()),
            reference,
            ..RecordedKernel::default()
        };
        assert!(is(&kernel(&own, None)));
        assert!(!is(&kernel(&[1; 20], None)) && !is(&RecordedKernel::default()));
        assert!(!is(&kernel(&own, Some(("_text".to_owned(), 0x1234)))));
        let reference = Some(("_text".to_owned(), 0x1234));
        assert!(!is(&RecordedKernel { release: running_release(), reference, build_id: None }));
    }
}
