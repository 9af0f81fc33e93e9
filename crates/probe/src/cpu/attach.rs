//! Loading the program into the kernel, and attaching it to clocks and tracepoints. What it counts is
//! fetched elsewhere.

use std::io;

use aya::{
    Ebpf, EbpfLoader, include_bytes_aligned,
    maps::MapError,
    programs::{
        PerfEvent, Program, ProgramError, RawTracePoint,
        perf_event::{HardwareEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent},
    },
};

use rabbitscope_profiles::Event;

use super::wire::number_of;
use crate::{
    beam::{
        CALL_BIF, CALL_NIF, CodeMap, Emulator, SCHEDULE, offset_of_current, offset_of_resumption,
    },
    error::ProbeError,
    node::Process,
};

/// Threads of a node that can be off the CPU at a time.
const WAITING_THREADS: u32 = 1024;

const ON_TICK: &str = "on_tick";
pub(super) const ON_PAGE_FAULT: &str = "on_page_fault";

/// Programs at tracepoints and the events that need them.
pub(super) const TRACEPOINT_PROGRAMS: [(&str, &[Event]); 3] = [
    ("on_switch", &[Event::OffCpu, Event::ContextSwitches]),
    ("on_wakeup", &[Event::OffCpu]),
    ("on_syscall", &[Event::Mmap, Event::Munmap, Event::Brk]),
];

/// Entries of the maps whose size is not fixed.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) samples: u32,
    /// Of ticks that were not fetched yet.
    pub(super) ring_bytes: u32,
    pub(super) row_chunks: u32,
    pub(super) block_chunks: u32,
}

pub(super) fn load(
    process: &Process,
    emulator: &Emulator,
    code: &CodeMap,
    sizes: Sizes,
    events: &[Event],
) -> Result<Ebpf, ProbeError> {
    let namespace = process.pid_namespace()?;
    let layout = emulator.layout;
    let normal_exit = code.normal_exit();
    let off_current = offset_of_current(process, code).unwrap_or(0);
    let off_resume = offset_of_resumption(process, code).unwrap_or(0);
    let noting = [span_of(code, CALL_BIF), span_of(code, CALL_NIF)].concat();
    let event_bits: u32 = events.iter().map(|&event| 1 << number_of(event)).sum();
    let waiting_threads = if events.contains(&Event::OffCpu) { WAITING_THREADS } else { 1 };
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
        .override_global("cfg_noting", noting.as_slice(), true)
        .override_global("cfg_off_resume", &off_resume, true)
        .override_global("cfg_scheduling", &span_of(code, SCHEDULE), true)
        .map_max_entries("samples", sizes.samples)
        .map_max_entries("ticks", sizes.ring_bytes)
        .map_max_entries("unwind_rows", sizes.row_chunks)
        .map_max_entries("row_blocks", sizes.block_chunks)
        .map_max_entries("pending", waiting_threads)
        .load(include_bytes_aligned!(concat!(env!("OUT_DIR"), "/sampler.bpf.o")))
        .map_err(kernel_error)?;
    // Before any map is taken out: the program names its maps by their descriptors.
    if events.contains(&Event::Cpu) {
        program::<PerfEvent>(&mut ebpf, ON_TICK).load().map_err(kernel_error)?;
    }
    if events.contains(&Event::PageFaults) {
        program::<PerfEvent>(&mut ebpf, ON_PAGE_FAULT).load().map_err(kernel_error)?;
    }
    for (name, its_events) in TRACEPOINT_PROGRAMS {
        if its_events.iter().any(|event| events.contains(event)) {
            program::<RawTracePoint>(&mut ebpf, name).load().map_err(kernel_error)?;
        }
    }
    Ok(ebpf)
}

/// Start and length of a fragment; a length of 0 when there is none.
fn span_of(code: &CodeMap, fragment: &str) -> [u64; 2] {
    code.span_of(fragment).map_or([0, 0], |span| [span.start, span.end - span.start])
}

pub(super) fn program<'a, P>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut P
where
    &'a mut P: TryFrom<&'a mut Program, Error = ProgramError>,
{
    ebpf.program_mut(name)
        .expect("the object holds this program")
        .try_into()
        .expect("it is of this kind")
}

/// The kernel's name of what a program of [`TRACEPOINT_PROGRAMS`] is attached to.
pub(super) fn tracepoint_of(program: &str) -> &'static str {
    match program {
        "on_switch" => "sched_switch",
        "on_wakeup" => "sched_wakeup",
        _ => "sys_exit",
    }
}

pub(super) fn take<M>(
    ebpf: &mut Ebpf,
    name: &str,
    convert: impl FnOnce(aya::maps::Map) -> Result<M, MapError>,
) -> Result<M, ProbeError> {
    let map = ebpf.take_map(name).expect("the program defines this map");
    convert(map).map_err(kernel_error)
}

/// Ticks by processor cycles where there is a counter for them, else by the CPU's clock.
pub(super) fn start_clock(
    ebpf: &mut Ebpf,
    cpus: &[u32],
    freq_hz: u32,
) -> Result<&'static str, ProbeError> {
    let program = program(ebpf, ON_TICK);
    let clocks = [
        ("cycles", PerfEventConfig::Hardware(HardwareEvent::CpuCycles)),
        ("cpu-clock", PerfEventConfig::Software(SoftwareEvent::CpuClock)),
    ];
    let mut refusal = None;
    for (name, clock) in clocks {
        match attach_everywhere(program, clock, cpus, SamplePolicy::Frequency(freq_hz.into())) {
            Ok(()) => return Ok(name),
            Err(error) => refusal = Some(error),
        }
    }
    Err(refusal.map_or_else(
        || ProbeError::Kernel { detail: "no clock".into() },
        |error| clock_error(&error, freq_hz),
    ))
}

pub(super) fn attach_everywhere(
    program: &mut PerfEvent,
    clock: PerfEventConfig,
    cpus: &[u32],
    policy: SamplePolicy,
) -> Result<(), ProgramError> {
    for &cpu in cpus {
        let scope = PerfEventScope::AllProcessesOneCpu { cpu };
        program.attach(clock, scope, policy, false)?;
    }
    Ok(())
}

fn clock_error(error: &ProgramError, freq_hz: u32) -> ProbeError {
    let limit = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate")
        .ok()
        .and_then(|text| text.trim().parse::<u32>().ok());
    match limit {
        Some(limit) if limit < freq_hz => {
            ProbeError::FrequencyTooHigh { asked_hz: freq_hz, limit_hz: limit }
        }
        _ => kernel_error(error),
    }
}

/// The innermost cause is the kernel's own word; the verifier's log is too long for a line.
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

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
