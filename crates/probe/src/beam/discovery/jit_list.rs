//! Finds the VM's list of machine code ([`super::super::jit`] reads it).
//!
//! Debuggers find the list by its name, so that the structure is the same in every program (GDB's "JIT Compilation
//! Interface"): version, last action, entry of that action, first entry.

use super::{
    evidence::{Evidence, Unclear, only},
    exports::Exports,
    static_data::{DataWord, StaticData},
};
use crate::{beam::jit, node::ReadMemory};

const PART: &str = "list of JIT code";
const NAME: &str = "__jit_debug_descriptor";

const VERSION: u64 = 1;

/// Highest action: 0 is none, 1 an added entry, 2 a removed one.
const MAX_ACTION: u64 = 2;

/// The address of the list's descriptor. `None` without a list: the VM has no JIT.
pub(in super::super) fn find_jit_list(
    memory: &impl ReadMemory,
    exports: &Exports,
    data: &StaticData,
) -> Result<Option<(u64, Evidence)>, Unclear> {
    if let Some(address) = exports.address(NAME) {
        let found = format!("{}, exported as {NAME}", data.place(address));
        return Ok(Some((address, Evidence::new(PART, found))));
    }
    let found: Vec<u64> = candidates(data)
        .filter(|(_, first)| jit::is_first_entry(memory, *first))
        .map(|(descriptor, _)| descriptor)
        .collect();
    if found.is_empty() {
        return Ok(None);
    }
    let address = only(PART, found, "", |&address| data.place(address))?;
    let how = format!("{}, the only such list in the executable's data", data.place(address));
    Ok(Some((address, Evidence::new(PART, how))))
}

/// Addresses of possible descriptors, with their first entries.
fn candidates(data: &StaticData) -> impl Iterator<Item = (u64, u64)> {
    let words: Vec<DataWord> = data.variables().collect();
    let triples = (0..words.len().saturating_sub(2))
        .map(move |index| [words[index], words[index + 1], words[index + 2]]);
    triples.filter_map(|[head, _, first]| {
        let (version, action) = (head.value & 0xffff_ffff, head.value >> 32);
        let is_head = version == VERSION && action <= MAX_ACTION && first.at == head.at + 16;
        (is_head && first.value != 0).then_some((head.at, first.value))
    })
}
