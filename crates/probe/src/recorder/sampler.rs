//! The interface of a backend. The recording knows no interface of the kernel; a backend knows neither names nor
//! profiles.

use rabbitscope_profiles::Event;

use crate::{
    beam::{CodeMap, Emulator, SchedulerBlock},
    error::ProbeError,
    kernel_interface::{JitCode, KernelTime, OffCpuThread, RawSample, Snapshot},
    native::Update,
    node::Process,
};

/// The node that a backend attaches to.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) process: &'a Process,
    pub(super) emulator: &'a Emulator,
    pub(super) code: &'a CodeMap,
    pub(super) schedulers: &'a [SchedulerBlock],
    pub(super) jit: JitCode,
    pub(super) unwind: &'a Update,
    /// End of the node's heap of brk(2); 0 if it is unknown.
    pub(super) heap_end: u64,
}

/// Events and frequency that a backend shall record.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) events: &'a [Event],
    /// Clock ticks per second on each CPU.
    pub(super) freq_hz: u32,
}

/// A sample on its way to the symbolizer.
pub(super) struct FetchedSample<'a> {
    pub(super) event: Event,
    pub(super) raw: &'a RawSample,
    /// The time step of the recording from which the sample's times count.
    pub(super) first_step: u32,
}

/// Samples since attach.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleCounts {
    /// Clock ticks during which the node ran.
    pub(super) ticks: u64,
    /// Samples without room in a map or ring, and unreadable samples.
    pub(super) lost: u64,
}

/// A node's place at a shared clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockPlace(pub(super) u32);

/// Takes samples of one node until it is dropped.
pub(super) trait Sampler {
    /// The backend's name in a profile.
    fn recorder(&self) -> &'static str;

    /// The ticking clock: `cycles` or `cpu-clock`; empty without one.
    fn clock(&self) -> &'static str;

    /// CPUs on which the node is observed.
    fn cpus(&self) -> u32;

    /// Starts the recording: samples and waits count from `start` on.
    fn begin(&mut self, start: KernelTime) -> Result<(), ProbeError>;

    /// The time given to [`Sampler::begin`].
    fn start(&self) -> KernelTime;

    /// Samples taken and lost since attach.
    fn counts(&self) -> Result<SampleCounts, ProbeError>;

    /// Returns whether samples should be fetched before the regular time.
    fn is_filling(&self) -> Result<bool, ProbeError>;

    /// Passes all samples until `now` to `each`, each sample once.
    fn fetch(
        &mut self,
        now: KernelTime,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) -> Result<(), ProbeError>;

    /// Does the work of [`Sampler::fetch`]. Later samples and waits count for a new window, which begins at a time step.
    fn end_window(
        &mut self,
        now: KernelTime,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) -> Result<(), ProbeError>;

    /// The share of the ring that was full at the last fetch; 0 if it is unknown.
    fn ring_fill(&self) -> f64 {
        0.0
    }

    /// The node's place at a shared clock.
    fn clock_place(&self) -> Option<ClockPlace> {
        None
    }

    /// Threads that are off the CPU now, if off-CPU time is recorded.
    fn off_cpu_threads(&self) -> Vec<OffCpuThread> {
        Vec::new()
    }

    /// Sets the new places of JIT code.
    fn update_code(&mut self, jit: JitCode) -> Result<(), ProbeError>;

    /// Adds unwind rows of new native code.
    fn update_unwinding(&mut self, update: &Update) -> Result<(), ProbeError>;

    /// Returns whether the backend can copy the VM's structures at a tick, for calibration.
    fn takes_snapshots(&self) -> bool {
        false
    }

    /// Requests snapshots of the next ticks in JIT code.
    fn request_snapshots(&mut self) -> Result<(), ProbeError> {
        Ok(())
    }

    /// The snapshots taken so far.
    fn snapshots(&self) -> Result<Vec<Snapshot>, ProbeError> {
        Ok(Vec::new())
    }

    /// Notes for the profile, at the end of a recording.
    fn notes(&self) -> Result<Vec<String>, ProbeError>;
}
