//! One recording from attach to [`Profile`].

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rabbitscope_profiles::{Capture, Event, Identities, Profile, StackQuality};

use super::{
    backend::{Backend, BackendChoice, choose_backend},
    ebpf::EbpfSampler,
    jit_segments::jit_code,
    options::{CpuOptions, Options, Progress, Recorded},
    perf_events::PerfEventsSampler,
    sampler::{FetchedSample, Request, SampleCounts, Sampler, Target},
    symbolizer::{NodeCode, Symbolizer},
};
use crate::{
    beam::{CodeMap, Emulator, Inspected, SchedulerBlock, check_layout, inspect},
    error::ProbeError,
    kernel_interface::{
        BLOCKS_PER_CHUNK, KernelTime, OffCpuThread, ROWS_PER_CHUNK, TIME_STEP_NANOS, WaitState,
    },
    native::{Alignment, Tables},
    node::{Mapping, Process},
    permission::{self, CLOCK, KERNEL_SYMBOLS, NODE, raise},
};

/// How often the recorder checks the fill level of rings and maps, and the node's code: often against the
/// four seconds for which a ring has room.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How often samples are fetched when rings and maps are not filling up: below the 1.6 s that a counted
/// sample has time steps for.
const FETCH_INTERVAL: Duration = Duration::from_secs(1);

/// How long calibration waits for ticks in JIT code; an idle node has none.
const CALIBRATION_TIMEOUT: Duration = Duration::from_millis(400);

/// How often calibration checks for snapshots: about as often as a CPU has 20 ticks at 999 Hz.
const CALIBRATION_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Snapshots that are enough for calibration: with a share of 0.8 that must agree, two may disagree.
const SNAPSHOTS_ENOUGH: usize = 12;

/// Records where the node spends CPU time, as [`record`] does.
pub fn record_cpu(
    options: &CpuOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Profile, ProbeError> {
    let mut recorded = record(&options.with_events(&[Event::Cpu]), stop, progress)?;
    Ok(recorded.profiles.remove(0))
}

/// Records one profile for each event, until the time is up, `stop` is set or the node ends. Returns what was
/// recorded by then; a node that ends early is noted in the capture.
///
/// Afterwards the calling thread has no privileges, unless it runs as root.
pub fn record(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Recorded, ProbeError> {
    let mut recording = Recording::start(options)?;
    recording.calibrate()?;
    recording.run(options.duration, stop, progress)?;
    let recorded = recording.finish();
    permission::drop_privileges()?;
    recorded
}

/// Opens the process of the node. Without privileges, a process of another user cannot be proven to be a VM:
/// then the missing privileges are the error.
fn open_process(pid: u32) -> Result<Process, ProbeError> {
    if !Process::exists(pid) {
        return Err(ProbeError::NoSuchProcess { pid });
    }
    Process::open(pid).map_err(|error| match permission::require_sampling() {
        Err(missing) if error.is_permission() => missing,
        _ => error,
    })
}

/// A node that ends in the middle of a call makes it fail in many ways: that it ended is what to say.
fn unless_exited(process: &Process, error: ProbeError) -> ProbeError {
    if process.is_alive() { error } else { ProbeError::NodeExited { pid: process.pid } }
}

/// What is read of a node before a backend attaches.
struct Inspection {
    emulator: Emulator,
    code: CodeMap,
    schedulers: Vec<SchedulerBlock>,
    mappings: Vec<Mapping>,
}

impl Inspection {
    fn of(process: &Process) -> Result<Self, ProbeError> {
        // Raised once for many small reads; none of them opens a file.
        let _raised = raise(NODE);
        let Inspected { emulator, code } = inspect(process)?;
        let schedulers = emulator.schedulers(process)?;
        Ok(Self { emulator, code, schedulers, mappings: process.mappings()? })
    }
}

struct Recording {
    process: Process,
    emulator: Emulator,
    code: CodeMap,
    sampler: Box<dyn Sampler>,
    symbolizer: Symbolizer,
    unwinding: Tables,
    notes: Vec<String>,
    freq_hz: u32,
    events: Vec<Event>,
    started: Instant,
    started_at: SystemTime,
    /// Ticks and losses before the recording started.
    baseline: SampleCounts,
    elapsed: Duration,
}

impl Recording {
    fn start(options: &Options) -> Result<Self, ProbeError> {
        if !matches!(std::env::consts::ARCH, "x86_64" | "aarch64") {
            return Err(ProbeError::UnsupportedMachine { arch: std::env::consts::ARCH });
        }
        let process = open_process(options.pid)?;
        let choice = choose_backend(options.pid, options.backend)?;
        choice.require(&options.events)?;
        let mut unwinding =
            Tables::new(Alignment { rows: ROWS_PER_CHUNK, blocks: BLOCKS_PER_CHUNK });
        let attached = Inspection::of(&process).and_then(|node| {
            let sampler = attach(&process, &node, &mut unwinding, &choice, options)?;
            Ok((node, sampler))
        });
        let (node, sampler) = attached.map_err(|error| unless_exited(&process, error))?;
        let code = NodeCode { code: &node.code, process: &process };
        let symbolizer = Symbolizer::new(code, &node.emulator);
        // From now on only the node's memory and the program's maps are read.
        permission::give_up(CLOCK | KERNEL_SYMBOLS)?;
        Ok(Self {
            symbolizer,
            process,
            emulator: node.emulator,
            code: node.code,
            sampler,
            unwinding,
            notes: choice.note().into_iter().collect(),
            freq_hz: options.freq_hz,
            events: options.events.clone(),
            started: Instant::now(),
            started_at: SystemTime::now(),
            baseline: SampleCounts::default(),
            elapsed: Duration::ZERO,
        })
    }

    /// Refuses a node that contradicts its layout. Then discards the samples so far and starts the clock of
    /// the recording.
    fn calibrate(&mut self) -> Result<(), ProbeError> {
        // Only ticks fall into JIT code by chance.
        let has_ticks = self.sampler.takes_snapshots() && self.events.contains(&Event::Cpu);
        let compared =
            self.check_layout(has_ticks).map_err(|error| unless_exited(&self.process, error))?;
        if compared == 0 && has_ticks {
            self.notes.push(
                "the node was idle at the start: its layout was not compared with registers".into(),
            );
        }
        self.sampler.fetch(KernelTime::now(), &mut |_| ())?;
        self.sampler.begin(KernelTime::now())?;
        self.baseline = self.sampler.counts()?;
        self.started = Instant::now();
        self.started_at = SystemTime::now();
        Ok(())
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
        check_layout(&self.emulator.layout, &snapshots).map_err(|detail| {
            ProbeError::LayoutMismatch {
                pid: self.process.pid,
                release: self.emulator.release.clone(),
                detail,
            }
        })
    }

    fn run(
        &mut self,
        duration: Option<Duration>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), ProbeError> {
        let mut last_fetch = Instant::now();
        loop {
            let elapsed = self.started.elapsed();
            let left = duration.map_or(POLL_INTERVAL, |all| all.saturating_sub(elapsed));
            sleep(left.min(POLL_INTERVAL));
            self.elapsed = self.started.elapsed();
            let node_gone = !self.process.is_alive();
            if !node_gone {
                self.follow_code()?;
            }
            if last_fetch.elapsed() >= FETCH_INTERVAL || self.sampler.is_filling()? {
                self.fetch()?;
                last_fetch = Instant::now();
                progress(self.progress()?);
            }
            if node_gone {
                self.note_exit();
                break;
            }
            let time_is_up = duration.is_some_and(|all| self.elapsed >= all);
            if time_is_up || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.fetch()?;
        self.add_off_cpu_threads();
        Ok(())
    }

    fn note_exit(&mut self) {
        self.notes.push(format!(
            "the node exited after {:.1} s; what was recorded until then is kept",
            self.elapsed.as_secs_f64()
        ));
    }

    /// Threads that are off the CPU at the end have waited until now.
    fn add_off_cpu_threads(&mut self) {
        let (now, start) = (KernelTime::now(), self.sampler.start());
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
    fn follow_code(&mut self) -> Result<(), ProbeError> {
        let changed = {
            let _raised = raise(NODE);
            self.code.refresh(&self.process, self.emulator.jit_descriptor)
        };
        // An error means that the list changes right now, or that the node exits: the next poll reads again.
        if !changed.unwrap_or(false) {
            return Ok(());
        }
        self.symbolizer.code_changed();
        self.fetch()?;
        let Some(mappings) = self.mappings()? else { return Ok(()) };
        self.sampler.update_code(jit_code(&self.code, &mappings))
    }

    /// The node's mappings; absent when it has exited, which is no error: what was recorded is kept.
    fn mappings(&self) -> Result<Option<Vec<Mapping>>, ProbeError> {
        let mappings = self.process.mappings();
        if mappings.is_err() && !self.process.is_alive() {
            return Ok(None);
        }
        mappings.map(Some)
    }

    fn fetch(&mut self) -> Result<(), ProbeError> {
        let node = NodeCode { code: &self.code, process: &self.process };
        let symbolizer = &mut self.symbolizer;
        self.sampler.fetch(KernelTime::now(), &mut |sample| symbolizer.add(&sample, node))?;
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

    fn progress(&self) -> Result<Progress, ProbeError> {
        let SampleCounts { ticks, lost } = self.sampler.counts()?;
        Ok(Progress {
            elapsed: self.elapsed,
            samples: ticks - self.baseline.ticks,
            lost: lost - self.baseline.lost,
        })
    }

    fn finish(mut self) -> Result<Recorded, ProbeError> {
        let lost = self.sampler.counts()?.lost - self.baseline.lost;
        self.notes.extend(self.sampler.notes()?);
        self.notes.extend(self.symbolizer.notes());
        let profiles: Vec<Profile> =
            self.events.iter().map(|&event| self.profile_of(event, lost)).collect();
        let is_empty = profiles.iter().all(|profile| profile.samples.is_empty());
        if is_empty && !self.process.is_alive() {
            return Err(ProbeError::NodeExited { pid: self.process.pid });
        }
        Ok(Recorded { profiles, unnamed: self.symbolizer.into_unnamed() })
    }

    /// The profile of an event. The event of a lost sample is not known, so that each profile counts all losses.
    fn profile_of(&self, event: Event, lost: u64) -> Profile {
        let (mut frames, samples, quality) = self.symbolizer.of_event(event, &self.emulator.pids);
        let lines = self.symbolizer.lines_of_event(event, &self.code, &mut frames);
        let since_1970 = self.started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_cpu = event == Event::Cpu;
        Profile {
            event,
            capture: Capture {
                recorder: self.sampler.recorder().into(),
                clock: if is_cpu { self.sampler.clock().into() } else { String::new() },
                node_pid: self.process.pid,
                otp_release: self.emulator.release.clone(),
                started_unix_nanos: nanos(since_1970),
                duration_nanos: nanos(self.elapsed),
                period_nanos: if is_cpu { 1_000_000_000 / u64::from(self.freq_hz) } else { 0 },
                cpus: self.sampler.cpus(),
                time_step_nanos: TIME_STEP_NANOS,
                notes: self.notes.clone(),
            },
            quality: StackQuality { lost, ..quality },
            frames,
            samples,
            identities: Identities::default(),
            lines,
        }
    }
}

/// Attaches the chosen backend.
fn attach(
    process: &Process,
    node: &Inspection,
    unwinding: &mut Tables,
    choice: &BackendChoice,
    options: &Options,
) -> Result<Box<dyn Sampler>, ProbeError> {
    let heap = node.mappings.iter().find(|mapping| mapping.path == "[heap]");
    let target = Target {
        process,
        emulator: &node.emulator,
        code: &node.code,
        schedulers: &node.schedulers,
        jit: jit_code(&node.code, &node.mappings),
        unwind: &unwinding.refresh(process, &node.mappings),
        heap_end: heap.map_or(0, |mapping| mapping.end),
    };
    let request = Request { events: &options.events, freq_hz: options.freq_hz };
    Ok(match choice.backend {
        Backend::Ebpf => Box::new(EbpfSampler::attach(&target, request)?),
        Backend::PerfEvents => Box::new(PerfEventsSampler::attach(&target, request)?),
    })
}

/// The time that a thread was blocked and the time that it was runnable, from `start` until `now`.
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
