//! Offsets of fields, read from the instructions of shared JIT code that load and store them: the fragment in which
//! a scheduler begins and switches between processes ([`crate::arch`]).

use super::evidence::{Evidence, Unclear, only};
use crate::{
    arch::machine::schedule::{HTOP, Move, REGISTERS, STOP},
    beam::{CodeMap, SCHEDULE},
    node::ReadMemory,
};

/// Limit for the size of the fragment, which has about 500 bytes.
const MAX_BYTES: usize = 4096;

/// Bytes at the beginning of the fragment within which it stores the registers' address.
const BEGINNING: usize = 64;

/// Offsets of the fields that the fragment uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedCode {
    /// Offset, in the block of a scheduler, of the address of its registers.
    pub(super) registers: u32,
    /// Offset, in a process, of the top of its stack.
    pub(super) stop: u32,
    /// Offset, in a process, of the first free word of its heap.
    pub(super) htop: u32,
}

const OF_REGISTERS: &str = "registers of a scheduler";
const OF_STOP: &str = "top of a process's stack";
const OF_HTOP: &str = "top of a process's heap";

/// Reads the offsets out of the fragment.
pub(super) fn read(
    memory: &impl ReadMemory,
    code: &CodeMap,
) -> Result<(SharedCode, Vec<Evidence>), Unclear> {
    let bytes = fragment(memory, code)
        .ok_or_else(|| Unclear::new("shared code", format!("{SCHEDULE} cannot be read")))?;
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    let found = SharedCode {
        registers: offset(OF_REGISTERS, &REGISTERS, beginning)?,
        stop: offset(OF_STOP, &STOP, &bytes)?,
        htop: offset(OF_HTOP, &HTOP, &bytes)?,
    };
    let evidence = |part: &'static str, kind: &Move, offset: u32| {
        let instruction = kind.text.replace("OFFSET", &offset.to_string());
        Evidence::new(part, format!("at {offset}: `{instruction}` in {SCHEDULE}"))
    };
    let evidence = vec![
        evidence(OF_REGISTERS, &REGISTERS, found.registers),
        evidence(OF_STOP, &STOP, found.stop),
        evidence(OF_HTOP, &HTOP, found.htop),
    ];
    Ok((found, evidence))
}

fn fragment(memory: &impl ReadMemory, code: &CodeMap) -> Option<Vec<u8>> {
    let span = code.span_of(SCHEDULE)?;
    let length = usize::try_from(span.end - span.start).ok()?.min(MAX_BYTES);
    let mut bytes = vec![0; length];
    memory.read(span.start, &mut bytes).ok()?;
    Some(bytes)
}

/// The one offset in all instructions of the kind.
fn offset(part: &'static str, kind: &Move, code: &[u8]) -> Result<u32, Unclear> {
    let mut offsets = kind.offsets(code);
    offsets.sort_unstable();
    offsets.dedup();
    let none = format!("{SCHEDULE} has no `{}`", kind.text);
    only(part, offsets, &none, u32::to_string)
}

#[cfg(test)]
mod tests {
    use super::{OF_STOP, REGISTERS, STOP, offset};
    use crate::arch::machine::schedule::fragment;

    #[test]
    fn two_offsets_are_refused_and_none_as_well() {
        let code = fragment(0, 88, 80);
        assert_eq!(offset(OF_STOP, &STOP, &code), Ok(88));
        assert_eq!(offset(OF_STOP, &STOP, &[code.clone(), code.clone()].concat()), Ok(88));
        let refused = offset(OF_STOP, &STOP, &[code, fragment(0, 96, 80)].concat());
        let refused = refused.unwrap_err().sentence();
        assert!(refused.contains("2 readings: 88; 96"), "{refused}");
        let refused = offset("", &REGISTERS, &[0; 64]).unwrap_err().sentence();
        assert!(refused.contains(REGISTERS.text), "{refused}");
    }
}
