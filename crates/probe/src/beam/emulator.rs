//! The running emulator: its release, its layout, and the data of each scheduler.

use std::{thread::sleep, time::Duration};

use rabbitscope_profiles::ThreadKind;

use super::{
    CodeMap,
    discovery::{
        Discovered, Evidence, Exports, Looks, Release, SchedulerBases, StaticData, Unclear,
        discover, find_jit_list, release_of,
    },
    layout::Layout,
    pids::Pids,
};
use crate::{
    error::ProbeError,
    node::{Mapping, Process, ReadMemory},
};

/// Limit for the size of the emulator's code, which has 4 MiB.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Attempts to find the layout: the VM starts and ends processes and loads code meanwhile.
const ATTEMPTS: u32 = 12;

/// Pause between two attempts: longer than the VM takes to load a module, even if it waits for its CPU.
const RETRY_INTERVAL: Duration = Duration::from_millis(15);

/// A VM with a known layout.
#[derive(Debug)]
pub(crate) struct Emulator {
    /// OTP release, for example `25`.
    pub(crate) release: String,
    /// Offsets in its structures.
    pub(crate) layout: Layout,
    /// Address of `__jit_debug_descriptor`.
    pub(crate) jit_descriptor: u64,
    /// Address and length in bytes of the table of BIFs, if it was found.
    pub(crate) bif_table: Option<(u64, u64)>,
    /// Encoding of pids.
    pub(crate) pids: Pids,
    /// The source of each part of the layout.
    pub(crate) evidence: Vec<Evidence>,
    schedulers: SchedulerBases,
}

/// A VM with its JIT code.
pub(crate) struct Inspected {
    pub(crate) emulator: Emulator,
    pub(crate) code: CodeMap,
}

/// A thread that runs Erlang processes, with its `ErtsSchedulerData`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchedulerBlock {
    /// Id of the thread in the node's pid namespace.
    pub(crate) tid: u32,
    /// Address of the block.
    pub(crate) data: u64,
    /// Normal or dirty.
    pub(crate) kind: ThreadKind,
}

/// Discovers the VM's layout, and reads the names of its code.
pub(crate) fn inspect(process: &Process) -> Result<Inspected, ProbeError> {
    let program = process.executable()?;
    let mappings = process.mappings()?;
    let exports = exports_of(process, &mappings, &program)?;
    inspect_with(process, &exports, &mappings, &program)
}

/// The executable's exports, with their addresses in memory.
pub(super) fn exports_of(
    process: &Process,
    mappings: &[Mapping],
    program: &str,
) -> Result<Exports, ProbeError> {
    let bias = load_bias(process, mappings, program)?;
    Ok(Exports::new(&process.image.symbols, bias))
}

/// Does the work of [`inspect`] with the given exports, which may be empty.
pub(super) fn inspect_with(
    process: &Process,
    exports: &Exports,
    mappings: &[Mapping],
    program: &str,
) -> Result<Inspected, ProbeError> {
    let mut attempt = 1;
    loop {
        // Read anew each time: variables that the VM was writing have other values then.
        let data = StaticData::read(process, mappings, program);
        let release = release_of(process, exports, &data);
        match inspect_once(process, exports, &data, &release) {
            Err(Refusal::Unclear(_) | Refusal::NoList) if attempt < ATTEMPTS => attempt += 1,
            Err(Refusal::Unclear(unclear)) => {
                return Err(layout_not_found(process, &release, &unclear));
            }
            Err(Refusal::NoList) => return Err(ProbeError::InterpreterOnly { pid: process.pid }),
            Err(Refusal::Failed(error)) => return Err(error),
            Ok(inspected) => return Ok(inspected),
        }
        sleep(RETRY_INTERVAL);
    }
}

/// Cause of a failed attempt.
enum Refusal {
    /// The list of JIT code does not exist, or the VM was changing it.
    NoList,
    Unclear(Unclear),
    Failed(ProbeError),
}

impl From<Unclear> for Refusal {
    fn from(unclear: Unclear) -> Self {
        Self::Unclear(unclear)
    }
}

impl From<ProbeError> for Refusal {
    fn from(error: ProbeError) -> Self {
        Self::Failed(error)
    }
}

fn inspect_once(
    process: &Process,
    exports: &Exports,
    data: &StaticData,
    release: &Release,
) -> Result<Inspected, Refusal> {
    let pid = process.pid;
    let list = find_jit_list(process, exports, data)?;
    let (jit_descriptor, of_list) = list.ok_or(Refusal::NoList)?;
    let code = CodeMap::read(process, jit_descriptor, pid)?;
    let threads = process.threads()?;
    let threads: Vec<(ThreadKind, u32)> =
        threads.iter().map(|thread| ThreadKind::from_name(&thread.name)).collect();
    let found = discover(process, exports, data, &code, &threads, Looks::LIVE)?;
    let Discovered { layout, pids, schedulers, bif_table, mut evidence } = found;
    evidence.insert(0, of_list);
    let emulator = Emulator {
        release: release.otp.clone(),
        layout,
        jit_descriptor,
        bif_table,
        pids,
        evidence,
        schedulers,
    };
    Ok(Inspected { emulator, code })
}

fn layout_not_found(process: &Process, release: &Release, unclear: &Unclear) -> ProbeError {
    ProbeError::LayoutNotFound {
        pid: process.pid,
        release: release.otp.clone(),
        erts: release.erts.clone(),
        detail: unclear.sentence(),
    }
}

/// The emulator's own code, with its address. `None` if it is unreadable or larger than the limit.
pub(crate) fn emulator_text(process: &Process) -> Option<(u64, Vec<u8>)> {
    let program = process.executable().ok()?;
    let mappings = process.mappings().ok()?;
    let is_code = |mapping: &&Mapping| mapping.executable && mapping.path == program;
    let code = mappings.iter().find(is_code)?;
    Some((code.start, process.mapped_bytes(code, MAX_TEXT_BYTES)?))
}

impl Emulator {
    /// The data of every scheduler thread. Fails if a block does not have the kind and the number of its thread's
    /// name: then the stride or the offsets are wrong.
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

/// The difference between an address in the process and the same address in the file.
fn load_bias(process: &Process, mappings: &[Mapping], program: &str) -> Result<u64, ProbeError> {
    if !process.image.is_relocated {
        return Ok(0);
    }
    let not_a_beam = || ProbeError::NotABeam { pid: process.pid, program: program.to_owned() };
    bias_of(mappings, program).ok_or_else(not_a_beam)
}

fn bias_of(mappings: &[Mapping], program: &str) -> Option<u64> {
    let own = |mapping: &&Mapping| {
        mapping.path.trim_end_matches(" (deleted)") == program.trim_end_matches(" (deleted)")
    };
    let first = mappings.iter().filter(own).min_by_key(|mapping| mapping.start)?;
    Some(first.start.wrapping_sub(first.file_offset))
}
