//! C functions of an emulator without symbols, named by the emulator's own tables and code.
//!
//! * The table of BIFs has the C function of each, which has the BIF's name (`make_tables` of the emulator).
//! * A scheduler calls `erts_schedule` for the next process to run (`emit_process_main` of the JIT).
//! * The only function of the emulator that calls `erts_schedule` itself is the loop of the dirty schedulers.

use std::collections::HashMap;

use super::{CodeMap, FunctionNames, SCHEDULE};
use crate::{arch::machine::schedule, node::ReadMemory};

/// The name of the function that finds the next process to run.
pub(crate) const SCHEDULE_FUNCTION: &str = "erts_schedule";
const DIRTY_LOOP: &str = "erts_dirty_process_main";

/// Limit for the size of the fragment, which has about 500 bytes.
const MAX_BYTES: usize = 4096;

/// A C function with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NativeFunction {
    pub(crate) place: FunctionPlace,
    pub(crate) name: String,
}

/// Identification of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionPlace {
    /// The function that begins at this address.
    Start(u64),
    /// The function with an instruction at this address.
    Code(u64),
}

/// The named functions. `text` is the emulator's code, which begins at the address `start`.
pub(crate) fn native_functions(
    memory: &impl ReadMemory,
    code: &CodeMap,
    functions: &mut FunctionNames,
    (start, text): (u64, &[u8]),
) -> Vec<NativeFunction> {
    let mut found = bifs(memory, code, functions);
    if let Some(function) = schedule_function(memory, code) {
        let name = SCHEDULE_FUNCTION.to_owned();
        found.push(NativeFunction { place: FunctionPlace::Start(function), name });
        let calls = schedule::calls_of(function, start, text);
        found.extend(calls.map(|address| NativeFunction {
            place: FunctionPlace::Code(address),
            name: DIRTY_LOOP.to_owned(),
        }));
    }
    found
}

/// The C functions of BIFs, without those that serve several BIFs.
fn bifs(
    memory: &impl ReadMemory,
    code: &CodeMap,
    functions: &mut FunctionNames,
) -> Vec<NativeFunction> {
    let mut by_address: HashMap<u64, Option<String>> = HashMap::new();
    for (mfa, address) in functions.bif_entries() {
        let name = functions.name_of(mfa, code, memory).and_then(c_name);
        by_address.entry(address).and_modify(|name| *name = None).or_insert(name);
    }
    let named = by_address.into_iter().filter_map(|(address, name)| {
        Some(NativeFunction { place: FunctionPlace::Start(address), name: name? })
    });
    named.collect()
}

/// The C name of a BIF: `ets_select_2?` for `ets:select/2`, and `md5_1?` for `erlang:md5/1`. The question mark says
/// that the name is inferred. `None` for BIFs without such a name, such as operators.
fn c_name(bif: &str) -> Option<String> {
    let (module, rest) = bif.split_once(':')?;
    let (function, arity) = rest.rsplit_once('/')?;
    let is_plain = function.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let prefix = if module == "erlang" { String::new() } else { format!("{module}_") };
    is_plain.then(|| format!("{prefix}{function}_{arity}?"))
}

/// The address of `erts_schedule`.
fn schedule_function(memory: &impl ReadMemory, code: &CodeMap) -> Option<u64> {
    let span = code.span_of(SCHEDULE)?;
    let length = usize::try_from(span.end - span.start).ok()?.min(MAX_BYTES);
    let mut bytes = vec![0; length];
    memory.read(span.start, &mut bytes).ok()?;
    schedule::schedule_function(memory, &bytes, span.start)
}

#[cfg(test)]
mod tests {
    use super::c_name;

    #[test]
    fn c_functions_are_called_after_their_bifs() {
        assert_eq!(c_name("ets:select/2").as_deref(), Some("ets_select_2?"));
        assert_eq!(c_name("erlang:md5/1").as_deref(), Some("md5_1?"));
        assert_eq!(c_name("erlang:+/2"), None);
        assert_eq!(c_name("nothing"), None);
    }
}
