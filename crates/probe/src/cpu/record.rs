//! One recording from attach to [`Profile`].

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rabbitscope_profiles::{Capture, Event, Identities, Profile, StackQuality};

use super::{
    assemble::Assembler,
    live::live_state,
    perf_events::PerfEvents,
    sampler::{Asked, Sampler},
    source::Source,
    wire::{
        BLOCKS_PER_CHUNK, Pending, ROWS_PER_CHUNK, TIME_STEP_NANOS, WAIT_BLOCKED, WAIT_RUNNABLE,
    },
};
use crate::{
    beam::{CodeMap, Emulator, judge},
    error::ProbeError,
    native::{Alignment, Tables},
    node::Process,
    permission::{self, CLOCK, KERNEL_SYMBOLS, NODE, raise},
    tier::{Tier, choose_tier},
};

/// What to record.
#[derive(Clone, Debug)]
pub struct CpuOptions {
    /// The node's process, as seen from here.
    pub pid: u32,
    /// Ticks a second on each CPU.
    pub freq_hz: u32,
    /// Length of the recording; absent: until stopped.
    pub duration: Option<Duration>,
}

impl CpuOptions {
    fn with_events(&self, events: &[Event]) -> Options {
        let Self { pid, freq_hz, duration } = *self;
        Options { pid, events: events.to_vec(), freq_hz, duration, tier: None }
    }
}

/// What to record.
#[derive(Clone, Debug)]
pub struct Options {
    /// The node's process, as seen from here.
    pub pid: u32,
    /// What makes a sample be taken; each gives a profile of its own.
    pub events: Vec<Event>,
    /// Ticks a second on each CPU, for CPU time.
    pub freq_hz: u32,
    /// Length of the recording; absent: until stopped.
    pub duration: Option<Duration>,
    /// By what; absent: by the best that is permitted.
    pub tier: Option<Tier>,
}

/// How far a recording has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time since its start.
    pub elapsed: Duration,
    /// Ticks that fell on the node.
    pub samples: u64,
    /// Of those, not recorded.
    pub lost: u64,
}

/// How often the recorder looks after the kernel's maps and the node's code.
const LOOK: Duration = Duration::from_millis(100);

/// How often samples are fetched when their room is not filling up.
const FETCH: Duration = Duration::from_secs(1);

/// How long calibration waits for ticks in JIT code; an idle node has none.
const CALIBRATION: Duration = Duration::from_millis(400);

/// Snapshots that are enough for a judgement.
const SNAPSHOTS_ENOUGH: usize = 12;

/// Records where the node spends CPU time, as [`record`] does.
pub fn record_cpu(
    options: &CpuOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Profile, ProbeError> {
    let mut profiles = record(&options.with_events(&[Event::Cpu]), stop, progress)?;
    Ok(profiles.remove(0))
}

/// Records what the node does, one profile for each event, until the time is up, `stop` is set or the node ends.
/// What was recorded by then is returned; a node that ends early is noted in the capture.
///
/// The calling thread has no privileges afterwards, unless it is root's.
pub fn record(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Profile>, ProbeError> {
    let mut recording = Recording::start(options)?;
    recording.calibrate()?;
    recording.run(options.duration, stop, progress)?;
    let profiles = recording.finish();
    permission::drop_privileges()?;
    profiles
}

/// Without the privileges for it, a process of somebody else cannot be proven to be a VM.
fn proven(pid: u32) -> Result<Process, ProbeError> {
    Process::open(pid).map_err(|error| match permission::require_sampling() {
        Err(missing) if error.is_permission() => missing,
        _ => error,
    })
}

struct Recording {
    process: Process,
    emulator: Emulator,
    code: CodeMap,
    source: Box<dyn Source>,
    assembler: Assembler,
    unwinding: Tables,
    notes: Vec<String>,
    freq_hz: u32,
    events: Vec<Event>,
    started: Instant,
    started_at: SystemTime,
    /// Ticks and losses before the recording proper began.
    baseline: (u64, u64),
    elapsed: Duration,
}

impl Recording {
    fn start(options: &Options) -> Result<Self, ProbeError> {
        if std::env::consts::ARCH != "x86_64" {
            return Err(ProbeError::UnsupportedMachine { arch: std::env::consts::ARCH });
        }
        if !Process::exists(options.pid) {
            return Err(ProbeError::NoSuchProcess { pid: options.pid });
        }
        let process = proven(options.pid)?;
        let choice = choose_tier(options.pid, options.tier)?;
        choice.require(&options.events)?;
        let (emulator, code, schedulers, mappings) = {
            // Many small readings, and no file.
            let _raised = raise(NODE);
            let emulator = Emulator::read(&process)?;
            let code = CodeMap::read(&process, emulator.jit_descriptor, process.pid)?;
            let schedulers = emulator.schedulers(&process)?;
            (emulator, code, schedulers, process.mappings()?)
        };
        let live = live_state(&code, &mappings);
        let mut unwinding =
            Tables::new(Alignment { rows: ROWS_PER_CHUNK.into(), blocks: BLOCKS_PER_CHUNK.into() });
        let rows = unwinding.refresh(&process, &mappings);
        let source: Box<dyn Source> = match choice.tier {
            Tier::Ebpf => {
                let heap = mappings.iter().find(|mapping| mapping.path == "[heap]");
                let asked = Asked {
                    events: &options.events,
                    freq_hz: options.freq_hz,
                    heap_end: heap.map_or(0, |mapping| mapping.end),
                };
                let attached =
                    Sampler::attach(&process, &emulator, &code, &schedulers, live, &rows, &asked);
                Box::new(attached?)
            }
            Tier::PerfEvents => {
                let (pid, freq_hz) = (options.pid, options.freq_hz);
                let attached =
                    PerfEvents::attach(pid, &emulator, &code, &schedulers, live, &rows, freq_hz);
                Box::new(attached?)
            }
        };
        let assembler = Assembler::new(&process, &emulator);
        // From now on there is only the node to read, and what the program wrote.
        permission::give_up(CLOCK | KERNEL_SYMBOLS)?;
        Ok(Self {
            assembler,
            process,
            emulator,
            code,
            source,
            unwinding,
            notes: choice.note().into_iter().collect(),
            freq_hz: options.freq_hz,
            events: options.events.clone(),
            started: Instant::now(),
            started_at: SystemTime::now(),
            baseline: (0, 0),
            elapsed: Duration::ZERO,
        })
    }

    /// Refuses when the running node contradicts the layout, then throws away what was sampled so
    /// far and starts the clock of the recording.
    fn calibrate(&mut self) -> Result<(), ProbeError> {
        self.source.request_snapshots()?;
        let until = Instant::now() + CALIBRATION;
        let mut snapshots = Vec::new();
        // Only ticks fall into JIT code by chance.
        let has_ticks = self.source.takes_snapshots() && self.events.contains(&Event::Cpu);
        while has_ticks && Instant::now() < until && snapshots.len() < SNAPSHOTS_ENOUGH {
            sleep(Duration::from_millis(20));
            snapshots = self.source.snapshots()?;
        }
        let looked_at = judge(self.emulator.layout, &snapshots).map_err(|detail| {
            ProbeError::LayoutMismatch {
                pid: self.process.pid,
                release: self.emulator.release.clone(),
                detail,
            }
        })?;
        if looked_at == 0 && has_ticks {
            self.notes.push(
                "the node was idle at the start: its layout was checked by its scheduler data only"
                    .into(),
            );
        }
        self.source.fetch(monotonic_nanos(), &mut |_, _| ())?;
        self.source.begin_at(monotonic_nanos())?;
        self.baseline = self.source.taken_and_lost()?;
        self.started = Instant::now();
        self.started_at = SystemTime::now();
        Ok(())
    }

    fn run(
        &mut self,
        duration: Option<Duration>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), ProbeError> {
        let mut last_fetch = Instant::now();
        loop {
            let left = duration.map_or(LOOK, |all| all.saturating_sub(self.started.elapsed()));
            sleep(left.min(LOOK));
            self.elapsed = self.started.elapsed();
            let node_gone = !self.process.is_alive();
            if !node_gone {
                self.follow_code()?;
            }
            if last_fetch.elapsed() >= FETCH || self.source.is_filling()? {
                self.fetch()?;
                last_fetch = Instant::now();
                progress(self.progress()?);
            }
            if node_gone {
                self.notes.push(format!(
                    "the node exited after {:.1} s; what was recorded until then is kept",
                    self.elapsed.as_secs_f64()
                ));
                break;
            }
            let time_is_up = duration.is_some_and(|all| self.elapsed >= all);
            if time_is_up || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.fetch()?;
        self.add_waiting();
        Ok(())
    }

    /// Threads that are off the CPU at the end have waited until now.
    fn add_waiting(&mut self) {
        let (now, since) = (monotonic_nanos(), self.source.began_at());
        let last_step = self.source.step_of(now);
        for Pending { out_nanos, woken_nanos, mut sample } in self.source.waiting() {
            let out = out_nanos.max(since);
            let woken = if woken_nanos == 0 { now } else { woken_nanos.max(out) };
            let waits = [
                (WAIT_BLOCKED, woken.saturating_sub(out)),
                (WAIT_RUNNABLE, now.saturating_sub(woken)),
            ];
            for (wait, nanos) in waits.into_iter().filter(|&(_, nanos)| nanos > 0) {
                (sample.wait, sample.count) = (wait, 1);
                sample.set_weight(nanos);
                self.assembler.add(&sample, last_step, &self.code, &self.process);
            }
        }
    }

    /// Modules may be loaded while we sample.
    fn follow_code(&mut self) -> Result<(), ProbeError> {
        let changed = {
            let _raised = raise(NODE);
            self.code.refresh(&self.process, self.emulator.jit_descriptor)
        };
        // On an error the list changes right now, or the node is going: the next look will tell.
        if !changed.unwrap_or(false) {
            return Ok(());
        }
        self.assembler.code_changed();
        self.fetch()?;
        self.source.update_code(live_state(&self.code, &self.process.mappings()?))
    }

    fn fetch(&mut self) -> Result<(), ProbeError> {
        let (assembler, code, process) = (&mut self.assembler, &self.code, &self.process);
        self.source.fetch(monotonic_nanos(), &mut |raw, first_step| {
            assembler.add(raw, first_step, code, process);
        })?;
        if self.assembler.met_unknown_code() && self.process.is_alive() {
            self.follow_libraries()?;
        }
        Ok(())
    }

    /// Native libraries may be loaded while we sample as well.
    fn follow_libraries(&mut self) -> Result<(), ProbeError> {
        let mappings = self.process.mappings()?;
        let update = self.unwinding.refresh(&self.process, &mappings);
        if update.files.is_empty() {
            return Ok(());
        }
        self.source.update_unwinding(&update)
    }

    fn progress(&self) -> Result<Progress, ProbeError> {
        let (taken, lost) = self.source.taken_and_lost()?;
        Ok(Progress {
            elapsed: self.elapsed,
            samples: taken - self.baseline.0,
            lost: lost - self.baseline.1,
        })
    }

    fn finish(mut self) -> Result<Vec<Profile>, ProbeError> {
        let lost = self.source.taken_and_lost()?.1 - self.baseline.1;
        self.notes.extend(self.source.remarks()?);
        self.notes.extend(self.assembler.notes());
        let profiles: Vec<Profile> =
            self.events.iter().map(|&event| self.profile_of(event, lost)).collect();
        let is_empty = profiles.iter().all(|profile| profile.samples.is_empty());
        if is_empty && !self.process.is_alive() {
            return Err(ProbeError::NodeExited { pid: self.process.pid });
        }
        Ok(profiles)
    }

    /// Of several events together it is not known whose samples were lost, so each says all.
    fn profile_of(&self, event: Event, lost: u64) -> Profile {
        let (mut frames, samples, quality) = self.assembler.of_event(event, &self.emulator.pids);
        let lines = self.assembler.lines_of_event(event, &self.code, &mut frames);
        let since_1970 = self.started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_cpu = event == Event::Cpu;
        Profile {
            event,
            capture: Capture {
                recorder: self.source.recorder().into(),
                clock: if is_cpu { self.source.clock().into() } else { String::new() },
                node_pid: self.process.pid,
                otp_release: self.emulator.release.clone(),
                started_unix_nanos: nanos(since_1970),
                duration_nanos: nanos(self.elapsed),
                period_nanos: if is_cpu { 1_000_000_000 / u64::from(self.freq_hz) } else { 0 },
                cpus: self.source.cpus(),
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

/// The clock by which the kernel's program measures.
fn monotonic_nanos() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let whole = u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000;
    whole + u64::try_from(now.tv_nsec).unwrap_or(0)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
