//! Names of functions by their `ErtsCodeMFA` (module, function, arity), which the VM stores before the code of each
//! function, and names of BIFs by the address of their C function.
//!
//! Module and function are numbers of atoms. The functions of the code map give their names.

use std::collections::HashSet;

use super::{CALL_BIF, CodeMap, texts::TextId, words::words_at};
use crate::{arch::machine::schedule, node::ReadMemory};

/// The VM's identification of a function (`ErtsCodeMFA`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CodeMfa {
    /// Number of an atom.
    pub(crate) module: u64,
    /// Number of an atom.
    pub(crate) function: u64,
    /// Number of arguments.
    pub(crate) arity: u64,
}

/// Names that are looked up at first use.
#[derive(Debug, Default)]
pub(crate) struct FunctionNames {
    /// Functions in the order of their atoms. A broker has tens of thousands, and a hash map would take four times
    /// as much memory.
    functions: Vec<Named>,
    /// For each id of a name: true if `functions` has it.
    is_known: Vec<bool>,
    is_current: bool,
    /// The VM's table of BIFs, as words.
    bif_table: Vec<u64>,
    /// The BIFs of that table.
    bifs: HashSet<CodeMfa>,
}

/// A function of the code map. The atoms of a name never change in the life of a VM.
#[derive(Clone, Copy, Debug)]
struct Named {
    module: u32,
    function: u32,
    /// The name, with the arity.
    name: TextId,
}

/// Limit for the size of the table of BIFs, which is 24,240 bytes on OTP 25.
const MAX_BIF_TABLE_BYTES: u64 = 1 << 20;

/// Limit for the words between the start of a function's header and its code.
const HEADER_WORDS: usize = 8;

const ATOM_TAG: u64 = 0b00_1011;
const ATOM_TAG_BITS: u64 = 0b11_1111;

impl FunctionNames {
    /// Reads the VM's table of BIFs, which lies at `span.0` and has `span.1` bytes.
    pub(crate) fn new(memory: &impl ReadMemory, span: Option<(u64, u64)>) -> Self {
        let bif_table = span.and_then(|span| words_at(memory, span, MAX_BIF_TABLE_BYTES));
        let bif_table: Vec<u64> = bif_table.unwrap_or_default();
        let bifs = entries_of(&bif_table).map(|(mfa, _)| mfa).collect();
        Self { bif_table, bifs, ..Self::default() }
    }

    /// Makes the next unknown name read the code map again. Call it after a change of the map.
    pub(crate) fn code_changed(&mut self) {
        self.is_current = false;
    }

    /// The name of a function, for example `prim_file:read_nif/2`. `None` for one without code, such as the second
    /// half of an interrupted BIF (`ets:select_trap/1`).
    pub(crate) fn name_of<'a>(
        &mut self,
        mfa: CodeMfa,
        code: &'a CodeMap,
        memory: &impl ReadMemory,
    ) -> Option<&'a str> {
        if !self.is_current && self.known(mfa, code).is_none() {
            self.learn(code, memory);
        }
        self.known(mfa, code)
    }

    fn known<'a>(&self, mfa: CodeMfa, code: &'a CodeMap) -> Option<&'a str> {
        let atoms = (mfa.module, mfa.function);
        let first = self.functions.partition_point(|named| named.atoms() < atoms);
        let all = self.functions[first..].iter().take_while(|named| named.atoms() == atoms);
        all.map(|named| code.name(named.name)).find(|name| arity_in(name) == Some(mfa.arity))
    }

    /// The name of a BIF; `None` for any other function.
    pub(crate) fn bif_named<'a>(
        &mut self,
        mfa: CodeMfa,
        code: &'a CodeMap,
        memory: &impl ReadMemory,
    ) -> Option<&'a str> {
        self.bifs.contains(&mfa).then(|| self.name_of(mfa, code, memory)).flatten()
    }

    /// The BIFs of the VM's table, with the addresses of their C functions.
    pub(super) fn bif_entries(&self) -> Vec<(CodeMfa, u64)> {
        entries_of(&self.bif_table).collect()
    }

    /// The BIF of the C function at `address`. `None` if there is none, or more than one.
    pub(crate) fn bif_of<'a>(
        &mut self,
        address: u64,
        code: &'a CodeMap,
        memory: &impl ReadMemory,
    ) -> Option<&'a str> {
        let entries: Vec<CodeMfa> = entries_of(&self.bif_table)
            .filter(|&(_, function)| function == address)
            .map(|(mfa, _)| mfa)
            .collect();
        match entries[..] {
            [only] => self.name_of(only, code, memory),
            _ => None,
        }
    }

    fn learn(&mut self, code: &CodeMap, memory: &impl ReadMemory) {
        let mut memory = MemoryInOrder::new(memory);
        self.is_known.resize(code.name_count(), false);
        for (header, start, id) in code.headers() {
            if !self.is_known[id as usize]
                && let Some(mfa) = mfa_in(&mut memory, header, start, code.name(id))
                && let Some(named) = Named::new(mfa, id)
            {
                self.is_known[id as usize] = true;
                self.functions.push(named);
            }
        }
        self.functions.sort_unstable_by_key(Named::atoms);
        self.functions.shrink_to_fit();
        self.is_current = true;
    }
}

impl Named {
    /// A function with its name; `None` if the words are no atoms.
    fn new(mfa: CodeMfa, name: TextId) -> Option<Self> {
        let (module, function) = (mfa.module.try_into().ok()?, mfa.function.try_into().ok()?);
        Some(Self { module, function, name })
    }

    fn atoms(&self) -> (u64, u64) {
        (self.module.into(), self.function.into())
    }
}

/// Words in the form of an entry of the table of BIFs: module, function, arity as an int, C function.
fn entries_of(bif_table: &[u64]) -> impl Iterator<Item = (CodeMfa, u64)> {
    let entries = bif_table.windows(4).filter(|entry| is_atom(entry[0]) && is_atom(entry[1]));
    entries.map(|entry| {
        let arity = entry[2] & 0xffff_ffff;
        (CodeMfa { module: entry[0], function: entry[1], arity }, entry[3])
    })
}

/// The offset of `Process.current`, from the code that stores it before a call of a BIF.
pub(crate) fn offset_of_current(memory: &impl ReadMemory, code: &CodeMap) -> Option<u32> {
    let mut bytes = [0; 24];
    memory.read(code.span_of(CALL_BIF)?.start, &mut bytes).ok()?;
    schedule::stored_current(&bytes)
}

fn mfa_in(
    memory: &mut MemoryInOrder<'_, impl ReadMemory>,
    header: u64,
    start: u64,
    name: &str,
) -> Option<CodeMfa> {
    let length = usize::try_from(start - header).ok()?.min(8 * HEADER_WORDS) / 8 * 8;
    let mut bytes = [0; 8 * HEADER_WORDS];
    memory.read(start - length as u64, &mut bytes[..length])?;
    find_mfa(&words(&bytes[..length]), name)
}

/// Memory read from low addresses to high ones, in chunks. A broker has tens of thousands of functions, and a
/// system call for each header would cost far more than the additional bytes.
struct MemoryInOrder<'a, M> {
    memory: &'a M,
    /// Address of the bytes read last.
    at: u64,
    bytes: Vec<u8>,
}

/// Bytes per read. Chosen: a hundred functions.
const CHUNK_BYTES: usize = 64 << 10;

impl<'a, M: ReadMemory> MemoryInOrder<'a, M> {
    fn new(memory: &'a M) -> Self {
        Self { memory, at: 0, bytes: Vec::new() }
    }

    fn read(&mut self, address: u64, into: &mut [u8]) -> Option<()> {
        if self.known(address, into.len()).is_none() {
            self.bytes.resize(CHUNK_BYTES, 0);
            self.at = address;
            if self.memory.read(address, &mut self.bytes).is_err() {
                // The memory after the last code may be unmapped.
                self.bytes.clear();
                return self.memory.read(address, into).ok();
            }
        }
        into.copy_from_slice(self.known(address, into.len())?);
        Some(())
    }

    fn known(&self, address: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(address.checked_sub(self.at)?).ok()?;
        self.bytes.get(from..from.checked_add(length)?)
    }
}

/// Finds two atoms followed by the arity in `name`.
fn find_mfa(header: &[u64], name: &str) -> Option<CodeMfa> {
    let arity = arity_in(name)?;
    let found = header
        .windows(3)
        .rev()
        .find(|words| is_atom(words[0]) && is_atom(words[1]) && words[2] == arity)?;
    Some(CodeMfa { module: found[0], function: found[1], arity })
}

/// The arity in a name: 2 in `ets:select/2`.
fn arity_in(name: &str) -> Option<u64> {
    name.rsplit_once('/')?.1.parse().ok()
}

pub(super) fn is_atom(term: u64) -> bool {
    term & ATOM_TAG_BITS == ATOM_TAG && term >> 32 == 0
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, io};

    use super::*;

    /// Address of the first code.
    const CODE: u64 = 0x7000_0000;

    struct Memory {
        bytes: Vec<u8>,
        reads: Cell<usize>,
    }

    impl ReadMemory for Memory {
        fn read(&self, address: u64, buf: &mut [u8]) -> io::Result<()> {
            self.reads.set(self.reads.get() + 1);
            let from = usize::try_from(address - CODE).unwrap();
            let there =
                self.bytes.get(from..from + buf.len()).ok_or(io::ErrorKind::InvalidInput)?;
            buf.copy_from_slice(there);
            Ok(())
        }
    }

    /// Each function has a header of four words and sixty words of code.
    #[test]
    fn headers_are_read_many_at_a_time() {
        let atom = |number: u64| number << 6 | ATOM_TAG;
        let functions = 2000;
        let words = (0..functions)
            .flat_map(|index| [vec![0, atom(7), atom(index / 2), index % 2], vec![0; 60]].concat());
        let bytes = words.flat_map(u64::to_le_bytes).collect();
        let memory = Memory { bytes, reads: Cell::new(0) };
        let ranges = (0..functions).flat_map(|index| {
            let (header, name) = (CODE + 512 * index, format!("m:f{}/{}", index / 2, index % 2));
            [(header, header + 32, name.clone()), (header + 32, header + 512, name)]
        });
        let code = CodeMap::from_ranges(ranges);
        let mut names = FunctionNames::default();
        for (function, arity) in [(0, 0), (0, 1), (7, 1), (functions / 2 - 1, 1)] {
            let mfa = CodeMfa { module: atom(7), function: atom(function), arity };
            let expected = format!("m:f{function}/{arity}");
            assert_eq!(names.name_of(mfa, &code, &memory), Some(&*expected));
        }
        let more = CodeMfa { module: atom(7), function: atom(7), arity: 2 };
        assert_eq!(names.name_of(more, &code, &memory), None);
        // The megabyte is read in chunks, the functions at its end one by one.
        let reads = memory.reads.get();
        assert!(reads < 16 + 2 * 128, "{reads}");
        let before = reads;
        names.code_changed();
        let unknown = CodeMfa { module: 0, function: 0, arity: 0 };
        assert_eq!(names.name_of(unknown, &code, &memory), None);
        assert_eq!(memory.reads.get(), before, "what was read is not read again");
    }

    #[test]
    fn the_header_of_a_function() {
        // Header of ets:select/2 on Erlang 25.2.3: a call, an empty word, and the three words of the MFA.
        let header = [0x001f_0fff_ffea_33e8, 0, 0x3bcb, 0xe38b, 2, 0xffff_ea28_e800_06eb];
        let expected = CodeMfa { module: 0x3bcb, function: 0xe38b, arity: 2 };
        assert_eq!(find_mfa(&header, "ets:select/2"), Some(expected));
        assert_eq!(find_mfa(&header, "ets:select/3"), None);
        assert_eq!(find_mfa(&header, "ets::codeHeader"), None);
        assert_eq!(find_mfa(&[], "ets:select/2"), None);
    }
}
