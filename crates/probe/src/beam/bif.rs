//! Which BIF a place in JIT code calls.
//!
//! Code that calls a BIF loads the BIF's export entry and its own address into registers and calls
//! a shared fragment (`emit_call_light_bif` of the JIT). So the instructions before the return
//! address name the callee exactly:
//!
//! ```text
//! call:  movabs rcx, EXPORT
//!        movabs rax, FUNCTION
//!        lea    rdx, [rip + call]
//!        call   call_light_bif_shared
//! ```
//!
//! An export entry begins with the addresses of its function in each generation of code; a BIF has
//! a function of Erlang code too, for calls by name, and that one is in the code map.

use super::CodeMap;
use crate::node::ReadMemory;

/// The fragment through which BIFs are called from a place that knows them.
pub(crate) const CALL_LIGHT_BIF: &str = "global::call_light_bif_shared";

/// Bytes that the four instructions take at most, with padding.
const CALL_BYTES: usize = 48;

const MOVABS_RCX: [u8; 2] = [0x48, 0xb9];
const LEA_RDX_RIP: [u8; 3] = [0x48, 0x8d, 0x15];
const MOVABS_BYTES: usize = 10;
const LEA_BYTES: usize = 7;

/// Addresses at the beginning of an export entry, one for each generation of code.
const GENERATIONS: u64 = 3;

/// The BIF (`ets:select/2`) that is called by the call which returns to `return_address`, provided
/// that it is called through [`CALL_LIGHT_BIF`]. `None` when the code is not of the known form, or
/// when the entry does not lead to one function, as under tracing.
pub(crate) fn called_bif<'a>(
    memory: &impl ReadMemory,
    code: &'a CodeMap,
    return_address: u64,
) -> Option<&'a str> {
    let mut bytes = [0; CALL_BYTES];
    let start = return_address.checked_sub(CALL_BYTES as u64)?;
    memory.read(start, &mut bytes).ok()?;
    let export = export_loaded(&bytes)?;
    let mut names = (0..GENERATIONS).filter_map(|generation| {
        let address = memory.word(export + 8 * generation).ok()?;
        Some(code.name_at(address))
    });
    let first = names.next()??;
    names.all(|name| name == Some(first)).then_some(first)
}

/// The address that is loaded into rcx by code which then loads that very place into rdx.
fn export_loaded(code: &[u8]) -> Option<u64> {
    (0..code.len().checked_sub(MOVABS_BYTES)?).rev().find_map(|at| {
        let export = code[at..].strip_prefix(&MOVABS_RCX)?.first_chunk()?;
        refers_back(code, at).then(|| u64::from_le_bytes(*export))
    })
}

fn refers_back(code: &[u8], to: usize) -> bool {
    (to + MOVABS_BYTES..code.len()).any(|at| {
        let displacement = code[at..].strip_prefix(&LEA_RDX_RIP).and_then(<[u8]>::first_chunk);
        displacement.is_some_and(|bytes| {
            let back = usize::try_from(-i64::from(i32::from_le_bytes(*bytes)));
            back == Ok(at + LEA_BYTES - to)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::export_loaded;

    /// Of `rabbit_amqqueue:lookup/1` on Erlang 25.2.3, up to the return address.
    const LOOKUP: [u8; 36] = [
        0x48, 0xb9, 0xa8, 0x29, 0x13, 0xd0, 0xdb, 0x7f, 0x00, 0x00, 0x48, 0xb8, 0xa0, 0xd5, 0xc0,
        0x78, 0xf0, 0x55, 0x00, 0x00, 0x48, 0x8d, 0x15, 0xe5, 0xff, 0xff, 0xff, 0x0f, 0x1f, 0x00,
        0x40, 0xe8, 0x48, 0xbf, 0x9e, 0xff,
    ];

    #[test]
    fn the_export_entry_before_a_call() {
        assert_eq!(export_loaded(&LOOKUP), Some(0x7fdb_d013_29a8));
    }

    #[test]
    fn code_that_does_not_load_its_own_address_is_no_such_call() {
        let mut other = LOOKUP;
        other[23] = 0;
        assert_eq!(export_loaded(&other), None);
        assert_eq!(export_loaded(&LOOKUP[2..]), None);
        assert_eq!(export_loaded(&[]), None);
    }
}
