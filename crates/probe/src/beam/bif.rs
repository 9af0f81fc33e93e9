//! Finds the BIF that an instruction of JIT code calls.
//!
//! Code that calls a BIF loads the BIF's address into a register and calls a shared fragment. So the instructions
//! before the return address identify the callee ([`crate::arch`]). For most BIFs the code loads the export entry.
//!
//! An export entry begins with the addresses of its function in each generation of code. A BIF also has an Erlang
//! function in the code map, for calls by name. If an entry leads to no such function, the C function identifies
//! the BIF, through the VM's table of BIFs. For BIFs that guards may call, the code loads the C function only.

use super::{CodeMap, FunctionNames, call_fragments::CALL_LIGHT_BIF, code_map::FRAGMENT_PREFIX};
use crate::{
    arch::machine::bif_calls::{CallCode, jump_target},
    node::ReadMemory,
};

/// The fragments for BIFs that guards may call.
const CALL_GUARD_BIF: [&str; 2] = ["global::i_bif_body_shared", "global::i_bif_guard_shared"];

/// The fragments of `length/1`, the only BIF with its own.
const LENGTH: [&str; 2] = ["global::i_length_body_shared", "global::i_length_guard_shared"];

/// Generations of code: the number of addresses at the beginning of an export entry.
const GENERATIONS: u64 = 3;

/// A BIF with the fragment of its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CalledBif {
    /// For example `ets:select/2`.
    pub(crate) name: String,
    /// For example `global::call_light_bif_shared`.
    pub(crate) through: String,
}

/// The BIF that the instruction before `return_address` calls. `None` if the code has no known form.
pub(crate) fn called_bif(
    memory: &impl ReadMemory,
    code: &CodeMap,
    functions: &mut FunctionNames,
    return_address: u64,
) -> Option<CalledBif> {
    let call = CallCode::before(memory, return_address)?;
    let through = fragment_at(memory, code, call.target(memory)?)?;
    let name = match through {
        CALL_LIGHT_BIF => {
            let (export, function) = call.light(memory)?;
            let exported = exported(memory, code, export);
            exported.or_else(|| functions.bif_of(function, code, memory))?.to_owned()
        }
        fragment if CALL_GUARD_BIF.contains(&fragment) => {
            functions.bif_of(call.function(memory)?, code, memory)?.to_owned()
        }
        fragment if LENGTH.contains(&fragment) => "erlang:length/1".to_owned(),
        _ => return None,
    };
    Some(CalledBif { name, through: through.to_owned() })
}

/// Jumps between a call and the fragment: two on aarch64, where the first leaves the reach of a short branch.
const MOST_JUMPS: u32 = 2;

/// The fragment at `target`, or the destination of jumps there. OTP 27, and every release on aarch64, call
/// fragments through a jump at the end of the module.
fn fragment_at<'a>(memory: &impl ReadMemory, code: &'a CodeMap, target: u64) -> Option<&'a str> {
    let mut at = target;
    for _ in 0..=MOST_JUMPS {
        let fragment = code.name_at(at).filter(|name| name.starts_with(FRAGMENT_PREFIX));
        if fragment.is_some() {
            return fragment;
        }
        at = jump_target(memory, at)?;
    }
    None
}

/// The function to which an export entry leads in every generation of code. `None` under tracing, and for the entry
/// that the VM has twice (`erlang:send/2`).
fn exported<'a>(memory: &impl ReadMemory, code: &'a CodeMap, export: u64) -> Option<&'a str> {
    let mut names = (0..GENERATIONS).filter_map(|generation| {
        let address = memory.word(export.checked_add(8 * generation)?).ok()?;
        Some(code.name_at(address))
    });
    let first = names.next()?.filter(|name| !name.starts_with(FRAGMENT_PREFIX))?;
    names.all(|name| name == Some(first)).then_some(first)
}
