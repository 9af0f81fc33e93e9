//! A node's memory per kind, and the holders of its binaries.

use rabbitscope_erlang::Term;
use serde::Serialize;

/// Bytes per kind. The first six kinds add up to `total`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct MemoryKinds {
    pub(super) total: u64,
    pub(super) processes: u64,
    /// Large binaries, which are outside the heaps.
    pub(super) binaries: u64,
    pub(super) tables: u64,
    pub(super) code: u64,
    /// Names of atoms, and the structures that refer to them.
    pub(super) atoms: u64,
    /// Ports, drivers, persistent terms, timers and the VM's own memory.
    pub(super) other: u64,
    /// A part of `other`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) persistent_terms: Option<u64>,
    /// Memory that the VM's allocators hold without using it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unused: Option<u64>,
    /// Physical memory of the operating system's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resident: Option<u64>,
    /// Resident memory that the allocators do not hold. Absent if the resident memory is smaller than the allocators'
    /// memory, because the VM has not touched all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) beyond: Option<u64>,
}

/// Bytes of the VM's structure per atom, which the VM counts as its own memory. Since OTP 28 each atom also has its
/// name as a binary. Names of fewer than 30 characters take `ATOM_BINARY_BYTES`.
const ATOM_BYTES: u64 = 64;
const ATOM_BINARY_BYTES: u64 = 24;

/// References to the bytes of `binaries`. A binary with several references counts with a part for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct BinaryHolders {
    pub(super) processes: u64,
    /// Objects of tables. Of large tables only a sample of objects is read.
    pub(super) tables: u64,
    /// Output that socket drivers have not written yet. A binary that waits on several sockets counts for each.
    pub(super) sockets: u64,
    /// Binaries without a known holder.
    pub(super) unattributed: u64,
}

impl MemoryKinds {
    pub(super) fn from_term(answer: &Term, atom_count: u64) -> Option<Self> {
        let kinds = answer.get("kinds")?.as_list()?;
        let of = |wanted: &str| {
            kinds.iter().find_map(|pair| match pair.as_tuple()? {
                [kind, bytes] if kind.is_atom(wanted) => bytes.as_u64(),
                _ => None,
            })
        };
        let total = of("total")?;
        let [processes, binaries, tables, code, atoms] =
            [of("processes")?, of("binary")?, of("ets")?, of("code")?, of("atom")?];
        let other = total.saturating_sub(processes + binaries + tables + code + atoms);
        let has_binaries = answer.get("otp")?.as_u64()? >= 28;
        let each = ATOM_BYTES + if has_binaries { ATOM_BINARY_BYTES } else { 0 };
        let structures = (atom_count * each).min(other);
        let allocated = match answer.get("allocated")?.as_tuple() {
            Some([blocks, carriers]) => Some((blocks.as_u64()?, carriers.as_u64()?)),
            _ => None,
        };
        let resident = answer.get("resident")?.as_u64();
        Some(Self {
            total,
            processes,
            binaries,
            tables,
            code,
            atoms: atoms + structures,
            other: other - structures,
            persistent_terms: answer.get("persistent_terms")?.as_u64(),
            unused: allocated.map(|(blocks, carriers)| carriers.saturating_sub(blocks)),
            resident,
            beyond: resident
                .zip(allocated)
                .and_then(|(resident, (_, carriers))| resident.checked_sub(carriers)),
        })
    }
}

impl BinaryHolders {
    /// Reads the answer; `binaries` is the memory of all binaries.
    pub(super) fn from_term(answer: &Term, binaries: u64) -> Option<Self> {
        let number = |key: &str| answer.get(key)?.as_u64();
        let (processes, tables) = (number("in_processes")?, number("in_tables")?);
        // One message may wait on many sockets.
        let sockets = number("in_sockets")?.min(binaries.saturating_sub(processes + tables));
        let unattributed = binaries.saturating_sub(processes + tables + sockets);
        Some(Self { processes, tables, sockets, unattributed })
    }
}
