//! Attaches loaded programs to clocks, kernel events and tracepoints.

use aya::{
    Ebpf,
    programs::{
        PerfEvent, ProgramError, RawTracePoint,
        perf_event::{HardwareEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent},
    },
};
use rabbitscope_machine::kernel_setting;

use super::program::{kernel_error, program};
use crate::{
    error::ProbeError,
    recorder::{
        events::{Hook, programs_of},
        sampler::Request,
    },
};

/// Programs to attach to a clock.
pub(super) type Unclocked = Vec<&'static str>;

/// Attaches the programs of the requested events, except those of the clock, which it returns.
pub(super) fn attach_programs(
    ebpf: &mut Ebpf,
    cpus: &[u32],
    request: Request<'_>,
) -> Result<Unclocked, ProbeError> {
    let mut unclocked = Vec::new();
    for row in programs_of(request.events) {
        match row.hook {
            Hook::Clock => unclocked.push(row.name),
            Hook::Software(event) => {
                let event = PerfEventConfig::Software(event);
                attach_everywhere(program(ebpf, row.name), event, cpus, SamplePolicy::Period(1))
                    .map_err(kernel_error)?;
            }
            Hook::RawTracepoint(tracepoint) => {
                let program: &mut RawTracePoint = program(ebpf, row.name);
                program.attach(tracepoint).map_err(kernel_error)?;
            }
        }
    }
    Ok(unclocked)
}

/// Attaches a clock: processor cycles if there is a counter for them, else the CPU's clock. Returns its name.
pub(super) fn attach_clock(
    program: &mut PerfEvent,
    cpus: &[u32],
    freq_hz: u32,
) -> Result<&'static str, ProbeError> {
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
    let refusal = refusal.expect("each clock was refused");
    Err(clock_error(&refusal, freq_hz))
}

fn attach_everywhere(
    program: &mut PerfEvent,
    event: PerfEventConfig,
    cpus: &[u32],
    policy: SamplePolicy,
) -> Result<(), ProgramError> {
    for &cpu in cpus {
        let scope = PerfEventScope::AllProcessesOneCpu { cpu };
        program.attach(event, scope, policy, false)?;
    }
    Ok(())
}

fn clock_error(error: &ProgramError, freq_hz: u32) -> ProbeError {
    match kernel_setting("perf_event_max_sample_rate") {
        Some(limit) if limit < freq_hz => {
            ProbeError::FrequencyTooHigh { asked_hz: freq_hz, limit_hz: limit }
        }
        _ => kernel_error(error),
    }
}
