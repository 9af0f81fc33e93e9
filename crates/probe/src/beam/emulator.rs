//! The running emulator: its release, the addresses of its exported variables and of each scheduler's
//! data.

use rabbitscope_profiles::ThreadKind;

use super::{layout::Layout, pids::Pids};
use crate::{
    error::ProbeError,
    node::{Mapping, Process, ReadMemory},
};

/// Exported by every emulator with a JIT and by no other.
const JIT_DESCRIPTOR: &str = "__jit_debug_descriptor";

/// Exported by every multi-threaded emulator.
const SCHEDULER_DATA: &str = "erts_aligned_scheduler_data";
const DIRTY_CPU_DATA: &str = "erts_aligned_dirty_cpu_scheduler_data";
const DIRTY_IO_DATA: &str = "erts_aligned_dirty_io_scheduler_data";
const RELEASE: &str = "etp_otp_release";
const ERTS_VERSION: &str = "etp_erts_version";

/// Exported by all emulators that were examined.
const BIF_TABLE: &str = "bif_table";

/// Exported by every emulator.
const PROCESS_TABLE: &str = "erts_proc";

/// Limit for the size of `erts_proc`, which is 320 bytes on OTP 25.
const MAX_PROCESS_TABLE_BYTES: u64 = 16 << 10;

/// A VM of a known release.
#[derive(Debug)]
pub(crate) struct Emulator {
    /// OTP release (`25`).
    pub(crate) release: String,
    /// Offsets in its structures.
    pub(crate) layout: &'static Layout,
    /// Address of `__jit_debug_descriptor`.
    pub(crate) jit_descriptor: u64,
    /// Address and length in bytes of the table of BIFs, where it is exported.
    pub(crate) bif_table: Option<(u64, u64)>,
    /// How pids are encoded.
    pub(crate) pids: Pids,
    schedulers: [(ThreadKind, u64); 3],
}

/// A thread that runs Erlang processes, with its `ErtsSchedulerData`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchedulerBlock {
    /// The thread, in the node's pid namespace.
    pub(crate) tid: u32,
    /// Address of the block.
    pub(crate) data: u64,
    /// Normal or dirty.
    pub(crate) kind: ThreadKind,
}

impl Emulator {
    /// Reads release and addresses out of the node's memory.
    pub(crate) fn read(process: &Process) -> Result<Self, ProbeError> {
        let pid = process.pid;
        let bias = load_bias(process)?;
        let missing = || ProbeError::NotABeam { pid, program: "no known emulator".into() };
        let span = |name: &str| {
            let &(address, size) = process.image.symbols.get(name)?;
            Some((address.wrapping_add(bias), size))
        };
        let at = |name: &str| span(name).map(|(address, _)| address);
        let scheduler_data = at(SCHEDULER_DATA).ok_or_else(missing)?;
        let jit_descriptor = at(JIT_DESCRIPTOR).ok_or(ProbeError::InterpreterOnly { pid })?;
        let release = text_at(process, at(RELEASE).ok_or_else(missing)?)?;
        let erts = at(ERTS_VERSION).map_or(Ok("?".into()), |address| text_at(process, address))?;
        let arch = std::env::consts::ARCH;
        let layout = Layout::find(&release, arch).ok_or_else(|| ProbeError::UnknownLayout {
            release: release.clone(),
            erts,
            arch,
            known: Layout::known(),
        })?;
        let pointer = |address: Option<u64>| match address {
            Some(address) => process
                .word(address)
                .map_err(ProbeError::io(format!("reading the memory of node {pid}"))),
            None => Ok(0),
        };
        Ok(Self {
            release,
            layout,
            jit_descriptor,
            pids: pids(process, layout, span(PROCESS_TABLE))?,
            bif_table: span(BIF_TABLE),
            schedulers: [
                (ThreadKind::Scheduler, pointer(Some(scheduler_data))?),
                (ThreadKind::DirtyCpu, pointer(at(DIRTY_CPU_DATA))?),
                (ThreadKind::DirtyIo, pointer(at(DIRTY_IO_DATA))?),
            ],
        })
    }

    /// The data of every scheduler thread. Fails when a block does not have the kind and the number of its
    /// thread's name: then the stride or the offsets are wrong.
    pub(crate) fn schedulers(&self, process: &Process) -> Result<Vec<SchedulerBlock>, ProbeError> {
        let mut blocks = Vec::new();
        for thread in process.threads()? {
            let (kind, number) = ThreadKind::from_name(&thread.name);
            let Some(data) = self.block_of(kind, number) else { continue };
            self.check(process, kind, number, data).map_err(|detail| {
                ProbeError::LayoutMismatch {
                    pid: process.pid,
                    release: self.release.clone(),
                    detail: format!("thread {}: {detail}", thread.name),
                }
            })?;
            blocks.push(SchedulerBlock { tid: thread.tid, data, kind });
        }
        if blocks.is_empty() {
            return Err(ProbeError::LayoutMismatch {
                pid: process.pid,
                release: self.release.clone(),
                detail:
                    "no thread has the name of a scheduler (a VM that is starting has none yet)"
                        .into(),
            });
        }
        Ok(blocks)
    }

    fn block_of(&self, kind: ThreadKind, number: u32) -> Option<u64> {
        let &(_, base) = self.schedulers.iter().find(|&&(own, base)| own == kind && base != 0)?;
        let offset = u64::from(number.checked_sub(1)?) * self.layout.scheduler_stride;
        base.checked_add(offset)
    }

    fn check(
        &self,
        memory: &impl ReadMemory,
        kind: ThreadKind,
        number: u32,
        data: u64,
    ) -> Result<(), String> {
        let (type_number, number_offset) = match kind {
            ThreadKind::DirtyCpu => (1, self.layout.dirty_number),
            ThreadKind::DirtyIo => (2, self.layout.dirty_number),
            _ => (0, self.layout.number),
        };
        let word = |offset: u32| {
            memory
                .word(data.saturating_add(u64::from(offset)))
                .map_err(|error| format!("cannot be read: {error}"))
        };
        let found_type = word(self.layout.scheduler_type)? & 0xffff_ffff;
        let found_number = word(number_offset)? & 0xffff_ffff;
        if (found_type, found_number) == (type_number, u64::from(number)) {
            return Ok(());
        }
        Err(format!(
            "expected scheduler type {type_number} number {number}, found type {found_type} \
             number {found_number}"
        ))
    }
}

/// `table` is the address of the process table and its length in bytes.
fn pids(process: &Process, layout: &Layout, table: Option<(u64, u64)>) -> Result<Pids, ProbeError> {
    let table = table.and_then(|span| words_at(process, span, MAX_PROCESS_TABLE_BYTES));
    Pids::read(layout, &table.unwrap_or_default()).ok_or_else(|| ProbeError::LayoutMismatch {
        pid: process.pid,
        release: layout.release.into(),
        detail: format!("{PROCESS_TABLE} does not say how it spreads processes"),
    })
}

/// Reads a structure of the VM as words, from its address and length. `None` when it has more than `most`
/// bytes: the length is from the VM's file and may be any number.
pub(super) fn words_at(
    memory: &impl ReadMemory,
    (address, size): (u64, u64),
    most: u64,
) -> Option<Vec<u64>> {
    if size > most {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    memory.read(address, &mut bytes).ok()?;
    Some(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// The difference between an address in the process and the same address in the file.
fn load_bias(process: &Process) -> Result<u64, ProbeError> {
    if !process.image.is_relocated {
        return Ok(0);
    }
    let path = process.executable()?;
    let mappings = process.mappings()?;
    bias_of(&mappings, &path).ok_or(ProbeError::NotABeam { pid: process.pid, program: path })
}

fn bias_of(mappings: &[Mapping], program: &str) -> Option<u64> {
    let own = |mapping: &&Mapping| {
        mapping.path.trim_end_matches(" (deleted)") == program.trim_end_matches(" (deleted)")
    };
    let first = mappings.iter().filter(own).min_by_key(|mapping| mapping.start)?;
    Some(first.start.wrapping_sub(first.file_offset))
}

fn text_at(process: &Process, address: u64) -> Result<String, ProbeError> {
    let mut bytes = [0; 32];
    process
        .read(address, &mut bytes)
        .map_err(ProbeError::io(format!("reading the memory of node {}", process.pid)))?;
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{ReadMemory, words_at};

    /// Memory that is there at every address.
    struct Endless;

    impl ReadMemory for Endless {
        fn read(&self, _address: u64, bytes: &mut [u8]) -> io::Result<()> {
            bytes.fill(1);
            Ok(())
        }
    }

    #[test]
    fn a_structure_that_is_larger_than_any_is_not_read() {
        let check = |size: u64, expected: Option<usize>| {
            assert_eq!(words_at(&Endless, (8, size), 1024).map(|words| words.len()), expected);
        };
        check(0, Some(0));
        check(1024, Some(128));
        check(1025, None);
        check(1 << 60, None);
        check(u64::MAX, None);
    }
}
