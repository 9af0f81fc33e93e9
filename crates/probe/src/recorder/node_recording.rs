//! The recording of one node, from attach to its profiles: the sampler, the names of its code, and the sums so far.
//! The caller decides the times of fetches: [`super::recording`] for one recording, [`super::continuous`] for
//! continuous windows.

use std::{
    thread::sleep,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rabbitscope_profiles::{Capture, Event, Identities, Profile, StackQuality};

use super::{
    jit_segments::jit_code,
    sampler::{FetchedSample, Request, SampleCounts, Sampler, Target},
    symbolizer::{Detail, NodeCode, Symbolizer},
};
use crate::{
    beam::{CodeMap, Emulator, Inspected, SchedulerBlock, check_layout, inspect},
    error::ProbeError,
    kernel_interface::{
        BLOCKS_PER_CHUNK, KernelTime, OffCpuThread, ROWS_PER_CHUNK, Snapshot, TIME_STEP_NANOS,
        WaitState,
    },
    native::{Alignment, Tables, UnnamedCode},
    node::{Mapping, Process},
    permission::{self, NODE, raise},
};

/// Limit for calibration's wait for ticks in JIT code, which an idle node does not have.
const CALIBRATION_TIMEOUT: Duration = Duration::from_millis(400);

/// Interval of calibration's checks for snapshots: about the time of 20 ticks of a CPU at 999 Hz.
const CALIBRATION_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Snapshots that are enough for calibration. With a required share of 0.8, two may disagree.
const SNAPSHOTS_ENOUGH: usize = 12;

/// Opens the process of the node. Without privileges, the proof that a process of another user is a VM fails. The
/// error then names the missing privileges.
pub(super) fn open_process(pid: u32) -> Result<Process, ProbeError> {
    if !Process::exists(pid) {
        return Err(ProbeError::NoSuchProcess { pid });
    }
    Process::open(pid).map_err(|error| match permission::require_sampling() {
        Err(missing) if error.is_permission() => missing,
        _ => error,
    })
}

/// Replaces the error if the node has exited: a node that exits during a call makes it fail in many ways.
fn unless_exited(process: &Process, error: ProbeError) -> ProbeError {
    if process.is_ending() { ProbeError::NodeExited { pid: process.pid } } else { error }
}

/// Facts read from a node before a backend attaches.
struct Inspection {
    emulator: Emulator,
    code: CodeMap,
    schedulers: Vec<SchedulerBlock>,
    mappings: Vec<Mapping>,
}

impl Inspection {
    fn read(process: &Process) -> Result<Self, ProbeError> {
        // Raised once for many small reads; none of them opens a file.
        let _raised = raise(NODE);
        let Inspected { emulator, code } = inspect(process)?;
        let schedulers = emulator.schedulers(process)?;
        Ok(Self { emulator, code, schedulers, mappings: process.mappings()? })
    }
}

/// A node that is being recorded.
pub(super) struct NodeRecording {
    pub(super) process: Process,
    pub(super) sampler: Box<dyn Sampler>,
    /// Notes for the reader of a profile.
    pub(super) notes: Vec<String>,
    emulator: Emulator,
    code: CodeMap,
    symbolizer: Symbolizer,
    unwinding: Tables,
    freq_hz: u32,
    events: Vec<Event>,
    started_at: SystemTime,
    /// Ticks and losses before the start of the recording or of its window.
    baseline: SampleCounts,
    /// Ticks before the start of the recording.
    ticks_before: u64,
}

impl NodeRecording {
    /// Reads the needed facts about the node, and lets `attach` make a sampler of it.
    pub(super) fn attach(
        process: Process,
        request: Request<'_>,
        detail: Detail,
        attach: impl FnOnce(&Target<'_>) -> Result<Box<dyn Sampler>, ProbeError>,
    ) -> Result<Self, ProbeError> {
        let mut unwinding =
            Tables::new(Alignment { rows: ROWS_PER_CHUNK, blocks: BLOCKS_PER_CHUNK });
        let attached = Inspection::read(&process).and_then(|node| {
            let heap = node.mappings.iter().find(|mapping| mapping.path == "[heap]");
            let sampler = attach(&Target {
                process: &process,
                emulator: &node.emulator,
                code: &node.code,
                schedulers: &node.schedulers,
                jit: jit_code(&node.code, &node.mappings),
                unwind: &unwinding.refresh(&process, &node.mappings),
                heap_end: heap.map_or(0, |mapping| mapping.end),
            })?;
            Ok((node, sampler))
        });
        let (mut node, sampler) = attached.map_err(|error| unless_exited(&process, error))?;
        if detail == Detail::Stacks {
            node.code.leave_out_lines();
        }
        let code = NodeCode { code: &node.code, process: &process };
        Ok(Self {
            symbolizer: Symbolizer::new(code, &node.emulator, detail),
            process,
            sampler,
            notes: Vec::new(),
            emulator: node.emulator,
            code: node.code,
            unwinding,
            freq_hz: request.freq_hz,
            events: request.events.to_vec(),
            started_at: SystemTime::now(),
            baseline: SampleCounts::default(),
            ticks_before: 0,
        })
    }

    /// Refuses a node that contradicts its layout. Then discards the samples so far and starts the clock of the
    /// recording.
    pub(super) fn calibrate(&mut self) -> Result<(), ProbeError> {
        // Only ticks meet JIT code by chance.
        let has_ticks = self.sampler.takes_snapshots() && self.events.contains(&Event::Cpu);
        let ticks = self.sampler.counts()?.ticks;
        let compared =
            self.check_layout(has_ticks).map_err(|error| unless_exited(&self.process, error))?;
        if compared == 0 && has_ticks {
            let ran = self.sampler.counts()?.ticks > ticks;
            self.notes.push(not_compared(ran));
        }
        self.begin()
    }

    /// Starts the clock of the recording, and discards the samples so far.
    fn begin(&mut self) -> Result<(), ProbeError> {
        self.sampler.fetch(KernelTime::now(), &mut |_| ())?;
        self.sampler.begin(KernelTime::now())?;
        self.baseline = self.sampler.counts()?;
        self.ticks_before = self.baseline.ticks;
        self.started_at = SystemTime::now();
        Ok(())
    }

    /// Starts the recording at once. [`NodeRecording::check_snapshots`] checks the layout later.
    pub(super) fn begin_unchecked(&mut self) -> Result<(), ProbeError> {
        self.sampler.request_snapshots()?;
        self.begin()
    }

    /// Compares the snapshots so far with the layout. Returns their number.
    pub(super) fn check_snapshots(&self) -> Result<usize, ProbeError> {
        self.compare(&self.sampler.snapshots()?)
    }

    /// Compares snapshots with the layout. Returns their number.
    fn check_layout(&mut self, has_ticks: bool) -> Result<usize, ProbeError> {
        self.sampler.request_snapshots()?;
        let until = Instant::now() + CALIBRATION_TIMEOUT;
        let mut snapshots = Vec::new();
        while has_ticks && Instant::now() < until && snapshots.len() < SNAPSHOTS_ENOUGH {
            sleep(CALIBRATION_POLL_INTERVAL);
            snapshots = self.sampler.snapshots()?;
        }
        self.compare(&snapshots)
    }

    fn compare(&self, snapshots: &[Snapshot]) -> Result<usize, ProbeError> {
        check_layout(&self.emulator.layout, snapshots).map_err(|detail| {
            ProbeError::LayoutMismatch {
                pid: self.process.pid,
                release: self.emulator.release.clone(),
                detail,
            }
        })
    }

    /// Adds the waits since `start` of the threads that are off the CPU.
    fn add_waits(&mut self, start: KernelTime, now: KernelTime) {
        let first_step = now.step_since(start);
        let node = NodeCode { code: &self.code, process: &self.process };
        for thread in self.sampler.off_cpu_threads() {
            for (wait, time) in waits_of(&thread, start, now) {
                let mut raw = thread.sample;
                (raw.head.wait, raw.head.count) = (wait.number(), 1);
                raw.set_weight(nanos(time));
                let sample = FetchedSample { event: Event::OffCpu, raw: &raw, first_step };
                self.symbolizer.add(&sample, node);
            }
        }
    }

    /// Reads the code map again: modules may be loaded during the recording.
    pub(super) fn follow_code(&mut self) -> Result<(), ProbeError> {
        let changed = {
            let _raised = raise(NODE);
            self.code.refresh(&self.process, self.emulator.jit_descriptor)
        };
        // After an error the list is just changing, or the node exits: the next poll reads again.
        if !changed.unwrap_or(false) {
            return Ok(());
        }
        self.symbolizer.code_changed();
        self.fetch()?;
        let Some(mappings) = self.mappings()? else { return Ok(()) };
        self.sampler.update_code(jit_code(&self.code, &mappings))
    }

    /// The node's mappings. `None` if it has exited, which is no error: the samples so far are kept.
    fn mappings(&self) -> Result<Option<Vec<Mapping>>, ProbeError> {
        let mappings = self.process.mappings();
        if mappings.is_err() && self.process.is_ending() {
            return Ok(None);
        }
        mappings.map(Some)
    }

    /// Takes the samples until now.
    pub(super) fn fetch(&mut self) -> Result<(), ProbeError> {
        self.fetch_until(KernelTime::now())
    }

    /// Takes the last samples, and the waits until now of threads that are off the CPU. Returns the time that they cover:
    /// since the start of the recording, or since its latest window. A thread that has to wait for a CPU comes here much
    /// later than it read a clock.
    pub(super) fn fetch_last(&mut self) -> Result<Duration, ProbeError> {
        let (start, now) = (self.sampler.start(), KernelTime::now());
        self.fetch_until(now)?;
        self.add_waits(start, now);
        Ok(now.since(start))
    }

    fn fetch_until(&mut self, now: KernelTime) -> Result<(), ProbeError> {
        let node = NodeCode { code: &self.code, process: &self.process };
        let symbolizer = &mut self.symbolizer;
        symbolizer.begin_fetch();
        self.sampler.fetch(now, &mut |sample| symbolizer.add(&sample, node))?;
        if self.symbolizer.take_native_cut() {
            self.follow_libraries()?;
        }
        Ok(())
    }

    /// Reads the unwind tables of new files: native libraries may be loaded during the recording.
    fn follow_libraries(&mut self) -> Result<(), ProbeError> {
        let Some(mappings) = self.mappings()? else { return Ok(()) };
        let update = self.unwinding.refresh(&self.process, &mappings);
        if update.files.is_empty() {
            return Ok(());
        }
        self.sampler.update_unwinding(&update)
    }

    /// Ticks and losses since the start of the recording.
    pub(super) fn counts(&self) -> Result<SampleCounts, ProbeError> {
        let SampleCounts { ticks, lost } = self.sampler.counts()?;
        Ok(SampleCounts { ticks: ticks - self.baseline.ticks, lost: lost - self.baseline.lost })
    }

    /// Ticks since the start of the recording, by the kernel's count.
    pub(super) fn ticks(&self) -> Result<u64, ProbeError> {
        Ok(self.sampler.counts()?.ticks - self.ticks_before)
    }

    /// A profile of each event, for a recording of length `elapsed`.
    pub(super) fn profiles(&mut self, elapsed: Duration) -> Result<Vec<Profile>, ProbeError> {
        let lost = self.counts()?.lost;
        self.profiles_with(lost, elapsed)
    }

    fn profiles_with(&mut self, lost: u64, elapsed: Duration) -> Result<Vec<Profile>, ProbeError> {
        self.notes.extend(self.sampler.notes()?);
        self.notes.extend(self.symbolizer.notes());
        let events = self.events.clone();
        Ok(events.into_iter().map(|event| self.profile_of(event, lost, elapsed)).collect())
    }

    /// Returns whether a window that ended now would have a length: windows end at time steps.
    pub(super) fn has_length(&self) -> bool {
        let start = self.sampler.start();
        KernelTime::now().step_begin(start) > start
    }

    /// Ends a window. Returns a profile of each event since the window before. The next window begins at this end.
    pub(super) fn end_window(&mut self) -> Result<Vec<Profile>, ProbeError> {
        let (start, cut) = (self.sampler.start(), KernelTime::now());
        let node = NodeCode { code: &self.code, process: &self.process };
        let symbolizer = &mut self.symbolizer;
        symbolizer.begin_fetch();
        self.sampler.end_window(cut, &mut |sample| symbolizer.add(&sample, node))?;
        let end = self.sampler.start();
        // The last window may end within a step.
        let length = if end > start { end.since(start) } else { cut.since(start) };
        self.add_waits(start, end);
        // Read once: losses while profiles are made belong to the next window.
        let counts = self.sampler.counts()?;
        let profiles = self.profiles_with(counts.lost - self.baseline.lost, length)?;
        self.baseline = counts;
        self.notes.clear();
        self.symbolizer.begin_window();
        self.started_at = SystemTime::now() - KernelTime::now().since(end);
        Ok(profiles)
    }

    /// The code for which a debug file would have better names.
    pub(super) fn into_unnamed(self) -> UnnamedCode {
        self.symbolizer.into_unnamed()
    }

    /// The profile of an event. The event of a lost sample is unknown, so that each profile counts all losses.
    fn profile_of(&mut self, event: Event, lost: u64, length: Duration) -> Profile {
        let pids = &self.emulator.pids;
        let (mut frames, samples, quality) = self.symbolizer.take_event(event, pids);
        let lines = self.symbolizer.lines_of_event(event, &self.code, &mut frames);
        Profile {
            event,
            capture: self.capture_of(event, length),
            quality: StackQuality { lost, ..quality },
            frames,
            samples,
            identities: Identities::default(),
            lines,
        }
    }

    fn capture_of(&self, event: Event, length: Duration) -> Capture {
        let since_1970 = self.started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_cpu = event == Event::Cpu;
        Capture {
            recorder: self.sampler.recorder().into(),
            clock: if is_cpu { self.sampler.clock().into() } else { String::new() },
            node: String::new(),
            rabbitmq: String::new(),
            node_pid: self.process.pid,
            otp_release: self.emulator.release.clone(),
            started_unix_nanos: nanos(since_1970),
            duration_nanos: nanos(length),
            period_nanos: if is_cpu { 1_000_000_000 / u64::from(self.freq_hz) } else { 0 },
            cpus: self.sampler.cpus(),
            time_step_nanos: TIME_STEP_NANOS,
            value: None,
            notes: self.notes.clone(),
        }
    }
}

/// The blocked time and the runnable time of a thread, from `start` until `now`.
fn waits_of(
    thread: &OffCpuThread,
    start: KernelTime,
    now: KernelTime,
) -> impl Iterator<Item = (WaitState, Duration)> {
    let left = KernelTime::from_nanos(thread.left_nanos).max(start);
    let woken = match thread.woken_nanos {
        0 => now,
        woken => KernelTime::from_nanos(woken).max(left),
    };
    let waits = [(WaitState::Blocked, woken.since(left)), (WaitState::Runnable, now.since(woken))];
    waits.into_iter().filter(|(_, time)| !time.is_zero())
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Why the layout was not compared: `ran` says whether the node was on a CPU meanwhile.
fn not_compared(ran: bool) -> String {
    let reason = if ran {
        "the node ran no Erlang code at the start, but native code (a NIF, a BIF or the garbage collector) or the kernel"
    } else {
        "the node was idle at the start"
    };
    format!("{reason}: its layout is not verified against registers")
}
