//! Loads the eBPF object into the kernel: its constants, the sizes of its maps, and the programs that the
//! requested events need.

use std::io;

use aya::{
    Ebpf, EbpfLoader, include_bytes_aligned,
    programs::{PerfEvent, Program, ProgramError, RawTracePoint},
};
use rabbitscope_profiles::Event;

use crate::{
    beam::{CALL_BIF, CALL_NIF, CodeMap, Resumption, SCHEDULE, offset_of_current, resumption},
    error::ProbeError,
    kernel_interface::HeldSignals,
    recorder::{
        events::{Hook, programs_of, rows_of},
        sampler::Target,
    },
};

/// Limit of threads of a node off the CPU at the same time: the VM starts a few threads for each CPU.
const MAX_OFF_CPU_THREADS: u32 = 1024;

/// Entries of the maps without a fixed size.
#[derive(Clone, Copy)]
pub(super) struct MapSizes {
    pub(super) samples: u32,
    /// Bytes of the ring buffer for ticks.
    pub(super) ring_bytes: u32,
    pub(super) row_chunks: u32,
    pub(super) block_chunks: u32,
}

/// Loads the programs that `events` need, for the node `target`.
pub(super) fn load(
    target: &Target<'_>,
    sizes: MapSizes,
    events: &[Event],
) -> Result<Ebpf, ProbeError> {
    let &Target { process, code, .. } = target;
    let namespace = process.pid_namespace()?;
    let layout = &target.emulator.layout;
    let normal_exit = code.normal_exit();
    let off_current = offset_of_current(process, code).unwrap_or(0);
    let unknown = Resumption { offset: 0, native_calls: [0; 2] };
    let resumption = resumption(process, code).unwrap_or(unknown);
    let bif_calls = [span_of(code, CALL_BIF), span_of(code, CALL_NIF)].concat();
    let event_bits: u32 = rows_of(events).map(|row| 1 << row.number.number()).sum();
    let off_cpu_threads = if events.contains(&Event::OffCpu) { MAX_OFF_CPU_THREADS } else { 1 };
    let _held = HeldSignals::new();
    let mut ebpf = EbpfLoader::new()
        .override_global("cfg_pidns_dev", &namespace.device, true)
        .override_global("cfg_pidns_ino", &namespace.inode, true)
        .override_global("cfg_tgid", &namespace.tgid, true)
        .override_global("cfg_events", &event_bits, true)
        .override_global("cfg_off_registers", &layout.registers, true)
        .override_global("cfg_off_current_process", &layout.current_process, true)
        .override_global("cfg_off_id", &layout.id, true)
        .override_global("cfg_off_htop", &layout.htop, true)
        .override_global("cfg_off_stop", &layout.stop, true)
        .override_global("cfg_off_hend", &layout.hend, true)
        .override_global("cfg_normal_exit", &normal_exit, true)
        .override_global("cfg_process_bytes", &layout.process_bytes(), true)
        .override_global("cfg_off_current", &off_current, true)
        .override_global("cfg_bif_calls", bif_calls.as_slice(), true)
        .override_global("cfg_off_resume", &resumption.offset, true)
        .override_global("cfg_native_calls", resumption.native_calls.as_slice(), true)
        .override_global("cfg_schedule", &span_of(code, SCHEDULE), true)
        .map_max_entries("samples", sizes.samples)
        .map_max_entries("ticks", sizes.ring_bytes)
        .map_max_entries("unwind_rows", sizes.row_chunks)
        .map_max_entries("row_blocks", sizes.block_chunks)
        .map_max_entries("off_cpu_threads", off_cpu_threads)
        .load(include_bytes_aligned!(concat!(env!("OUT_DIR"), "/sampler.bpf.o")))
        .map_err(kernel_error)?;
    load_programs(&mut ebpf, events)?;
    Ok(ebpf)
}

/// Loads the programs. Call it before a map is taken out of `ebpf`: loading resolves a program's maps by their
/// descriptors.
fn load_programs(ebpf: &mut Ebpf, events: &[Event]) -> Result<(), ProbeError> {
    for row in programs_of(events) {
        let loaded = match row.hook {
            Hook::Clock | Hook::Software(_) => program::<PerfEvent>(ebpf, row.name).load(),
            Hook::RawTracepoint(_) => program::<RawTracePoint>(ebpf, row.name).load(),
        };
        loaded.map_err(kernel_error)?;
    }
    Ok(())
}

/// Start and length of a fragment, with a length of 0 if there is none.
fn span_of(code: &CodeMap, fragment: &str) -> [u64; 2] {
    code.span_of(fragment).map_or([0, 0], |span| [span.start, span.end - span.start])
}

/// A program of the object, by the name of its C function.
pub(super) fn program<'a, P>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut P
where
    &'a mut P: TryFrom<&'a mut Program, Error = ProgramError>,
{
    ebpf.program_mut(name)
        .expect("a test compares the object with the table")
        .try_into()
        .expect("a test compares the object with the table")
}

/// The error with its innermost cause, the kernel's own error. The verifier's log is too long for a line.
pub(super) fn kernel_error(error: impl std::error::Error) -> ProbeError {
    let mut detail = first_line(&error.to_string());
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(system) = inner.downcast_ref::<io::Error>() {
            detail = format!("{detail}: {system}");
            break;
        }
        cause = inner.source();
    }
    ProbeError::Kernel { detail }
}

/// The first line, at most 200 characters, so that a message stays on a few lines of a terminal.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
