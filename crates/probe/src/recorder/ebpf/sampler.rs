//! The sampler in the kernel: loads and attaches it, and fetches its samples.

use std::{thread::sleep, time::Duration};

use aya::{
    Ebpf,
    maps::{MapData, RingBuf},
    programs::PerfEvent,
    util::online_cpus,
};
use rabbitscope_profiles::Event;

use super::{
    attach::{attach_clock, attach_programs},
    maps::{Maps, set_schedulers, take_map},
    program::{MapSizes, kernel_error, load, program},
    ring_size::{TICK_BYTES, ring_bytes},
    shared_clock::SharedClock,
    tick::read_tick,
};
use crate::{
    error::ProbeError,
    kernel_interface::{
        BLOCKS_PER_CHUNK, Counter, JitCode, KernelTime, OffCpuThread, ROWS_PER_CHUNK, RawSample,
        RecordingState, Snapshot,
    },
    native::Update,
    permission::{PROGRAM, raise},
    recorder::{
        events::event_of,
        sampler::{ClockPlace, FetchedSample, Request, SampleCounts, Sampler, Target},
    },
};

/// Limit of distinct samples in the map, for events as frequent as the node causes them. At 5.4 KiB each: 43 MiB,
/// and more on machines with more than 32 CPUs.
const COUNTED_SAMPLES: u32 = 8192;
const COUNTED_SAMPLES_PER_CPU: u32 = 256;

/// A time longer than any run of a program. After it no program writes to the old generation.
const GENERATION_SWITCH: Duration = Duration::from_millis(2);

/// Room for the unwind rows, and their blocks, of libraries that the node loads during the recording, in chunks of
/// 4 KiB.
const SPARE_ROW_CHUNKS: u32 = 512;
const SPARE_BLOCK_CHUNKS: u32 = 128;

/// A report of disagreements needs more than one in this many samples of JIT code. A few are expected: the VM
/// changes the process register and the scheduler's current process one after the other.
const DISAGREEMENT_LIMIT: u64 = 50;

/// Window of the samples after a fetch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextSamples {
    InSameWindow,
    InNewWindow,
}

/// The attached programs. Dropping the value detaches them and frees all their kernel resources.
pub(in super::super) struct EbpfSampler {
    maps: Maps,
    ring: RingBuf<MapData>,
    state: RecordingState,
    /// The start of the recording. Earlier ticks do not count.
    earliest: KernelTime,
    /// The tick read last.
    tick: Box<RawSample>,
    has_counted: bool,
    ring_bytes: u32,
    /// The share of the ring that was full at the last fetch.
    ring_fill: f64,
    /// Entries of the map of counted samples.
    capacity: u64,
    /// Number of ticks taken out of the ring.
    ticks_fetched: u64,
    /// Number of fetched samples in no known form: a defect of the program.
    unreadable: u64,
    /// Number of entries taken out of the map.
    entries_fetched: u64,
    clock: &'static str,
    /// The node's place at a shared clock.
    place: Option<ClockPlace>,
    cpus: u32,
    /// Keeps the programs and their links alive.
    ebpf: Ebpf,
}

impl EbpfSampler {
    /// Loads the programs for one node. Starts a clock for it, unless nodes share one.
    pub(in super::super) fn attach(
        target: &Target<'_>,
        request: Request<'_>,
        mut shared: Option<&mut SharedClock>,
    ) -> Result<Self, ProbeError> {
        let cpus = online_cpus()
            .map_err(|(action, source)| ProbeError::Io { action: action.into(), source })?;
        let cpu_count = u32::try_from(cpus.len()).expect("fewer than 2^32 CPUs");
        let has_counted = request.events.iter().any(|&event| event != Event::Cpu);
        let sizes = map_sizes(cpu_count, has_counted, request, target.unwind);
        let _raised = raise(PROGRAM);
        let mut ebpf = load(target, sizes, request.events)?;
        let mut sampler = Self {
            maps: Maps::take(&mut ebpf)?,
            ring: take_map(&mut ebpf, "ticks", RingBuf::try_from)?,
            state: RecordingState { jit: target.jit, ..RecordingState::default() },
            earliest: KernelTime::default(),
            tick: Box::default(),
            has_counted,
            ring_bytes: sizes.ring_bytes,
            ring_fill: 0.0,
            capacity: sizes.samples.into(),
            ticks_fetched: 0,
            unreadable: 0,
            entries_fetched: 0,
            clock: "",
            place: None,
            cpus: cpu_count,
            ebpf,
        };
        set_schedulers(&mut sampler.ebpf, target.schedulers)?;
        sampler.update_unwinding(target.unwind)?;
        sampler.maps.set_heap_end(target.heap_end)?;
        for name in attach_programs(&mut sampler.ebpf, &cpus, request)? {
            if let Some(clock) = &mut shared {
                sampler.share(clock, name, target)?;
            } else {
                let program = program(&mut sampler.ebpf, name);
                sampler.clock = attach_clock(program, &cpus, request.freq_hz)?;
            }
        }
        Ok(sampler)
    }

    fn share(
        &mut self,
        clock: &mut SharedClock,
        name: &str,
        target: &Target<'_>,
    ) -> Result<(), ProbeError> {
        let program: &mut PerfEvent = program(&mut self.ebpf, name);
        let descriptor = program.fd().map_err(kernel_error)?;
        self.place = Some(clock.connect(target.process, descriptor)?);
        self.clock = clock.name();
        Ok(())
    }

    fn write_state(&mut self) -> Result<(), ProbeError> {
        self.maps.set_recording_state(self.state)
    }

    /// A note if the process register often differed from the scheduler's current process. This check continues for
    /// the whole recording.
    fn disagreement(&self) -> Result<Option<String>, ProbeError> {
        let agrees = self.maps.counter(Counter::JitAgrees)?;
        let disagrees = self.maps.counter(Counter::JitDisagrees)?;
        let all = agrees + disagrees;
        Ok((disagrees * DISAGREEMENT_LIMIT > all).then(|| {
            format!(
                "in {disagrees} of {all} samples of JIT code the process register was not the \
                 scheduler's current process"
            )
        }))
    }

    /// Passes on the ticks since the start of the recording until `now`. Later ones stay for the next fetch.
    fn fetch_ticks(&mut self, now: KernelTime, each: &mut dyn FnMut(FetchedSample<'_>)) {
        let start = self.start();
        let mut filled = 0;
        while let Some(bytes) = self.ring.next() {
            self.ticks_fetched += 1;
            filled += bytes.len();
            let time = read_tick(&bytes, &mut self.tick);
            let (Some(time), Some(event)) = (time, event_of(&self.tick)) else {
                self.unreadable += 1;
                continue;
            };
            if time >= self.earliest {
                let first_step = time.step_since(start);
                each(FetchedSample { event, raw: &self.tick, first_step });
            }
            if time > now {
                break;
            }
        }
        self.ring_fill = filled as f64 / f64::from(self.ring_bytes);
    }

    /// Passes on the counted samples of the generation until now. No count is lost: the programs switch to a new
    /// generation first, and the samples are read when no program writes to the old one.
    fn fetch_counted(
        &mut self,
        now: KernelTime,
        next: NextSamples,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) -> Result<(), ProbeError> {
        let (start, old) = (self.start(), self.state.generation);
        let first_step = KernelTime::from_nanos(self.state.generation_nanos).step_since(start);
        self.state.generation = old.wrapping_add(1);
        self.state.generation_nanos = now.step_begin(start).as_nanos();
        if next == NextSamples::InNewWindow {
            self.state.start_nanos = self.state.generation_nanos;
        }
        self.write_state()?;
        sleep(GENERATION_SWITCH);
        let keys = self.maps.keys_of(old);
        self.entries_fetched += keys.len() as u64;
        for key in keys {
            let sample = self.maps.take_sample(&key)?;
            match event_of(&sample) {
                Some(event) => each(FetchedSample { event, raw: &sample, first_step }),
                None => self.unreadable += sample.head.count,
            }
        }
        Ok(())
    }
}

impl Sampler for EbpfSampler {
    fn clock_place(&self) -> Option<ClockPlace> {
        self.place
    }

    fn ring_fill(&self) -> f64 {
        self.ring_fill
    }

    fn recorder(&self) -> &'static str {
        "eBPF"
    }

    fn clock(&self) -> &'static str {
        self.clock
    }

    fn cpus(&self) -> u32 {
        self.cpus
    }

    fn begin(&mut self, start: KernelTime) -> Result<(), ProbeError> {
        self.earliest = start;
        self.state.start_nanos = start.as_nanos();
        self.state.generation_nanos = start.as_nanos();
        self.write_state()
    }

    fn start(&self) -> KernelTime {
        KernelTime::from_nanos(self.state.start_nanos)
    }

    fn counts(&self) -> Result<SampleCounts, ProbeError> {
        let ticks = self.maps.counter(Counter::Ticks)?;
        Ok(SampleCounts { ticks, lost: self.maps.counter(Counter::Lost)? + self.unreadable })
    }

    /// Returns whether a quarter of the ring or of the map is likely to be full.
    fn is_filling(&self) -> Result<bool, ProbeError> {
        let ticks = self.maps.counter(Counter::Sent)?.saturating_sub(self.ticks_fetched);
        let entries = self.maps.counter(Counter::New)?.saturating_sub(self.entries_fetched);
        let bytes = ticks * u64::from(TICK_BYTES);
        Ok(bytes > u64::from(self.ring_bytes / 4) || entries > self.capacity / 4)
    }

    fn fetch(
        &mut self,
        now: KernelTime,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) -> Result<(), ProbeError> {
        self.fetch_ticks(now, each);
        if !self.has_counted {
            return Ok(());
        }
        self.fetch_counted(now, NextSamples::InSameWindow, each)
    }

    fn end_window(
        &mut self,
        now: KernelTime,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) -> Result<(), ProbeError> {
        self.fetch_ticks(now, each);
        if self.has_counted {
            return self.fetch_counted(now, NextSamples::InNewWindow, each);
        }
        // The kernel's programs measure time for counted samples only.
        self.state.start_nanos = now.step_begin(self.start()).as_nanos();
        Ok(())
    }

    fn off_cpu_threads(&self) -> Vec<OffCpuThread> {
        self.maps.off_cpu_threads()
    }

    fn update_code(&mut self, jit: JitCode) -> Result<(), ProbeError> {
        self.state.jit = jit;
        self.write_state()
    }

    fn update_unwinding(&mut self, update: &Update) -> Result<(), ProbeError> {
        self.state.modules_version += 1;
        let list = u32::from(self.state.modules_version % 2 == 1);
        self.maps.set_unwinding(update, list)?;
        self.write_state()
    }

    fn takes_snapshots(&self) -> bool {
        true
    }

    fn request_snapshots(&mut self) -> Result<(), ProbeError> {
        self.maps.request_snapshots()
    }

    fn snapshots(&self) -> Result<Vec<Snapshot>, ProbeError> {
        self.maps.snapshots()
    }

    fn notes(&self) -> Result<Vec<String>, ProbeError> {
        let disagreement = self.disagreement()?;
        let missing = self.maps.counter(Counter::KernelStackLost)?;
        let kernel = (missing > 0).then(|| {
            format!(
                "{missing} samples in the kernel end at the call into it, because the kernel gave no stack"
            )
        });
        Ok(disagreement.into_iter().chain(kernel).collect())
    }
}

fn map_sizes(cpus: u32, has_counted: bool, request: Request<'_>, unwind: &Update) -> MapSizes {
    let samples = if has_counted { COUNTED_SAMPLES.max(COUNTED_SAMPLES_PER_CPU * cpus) } else { 1 };
    let (row_chunks, block_chunks) = chunks_of(unwind);
    let has_ticks = request.events.contains(&Event::Cpu);
    let ticks_per_second = if has_ticks { cpus * request.freq_hz } else { 0 };
    MapSizes {
        samples,
        ring_bytes: ring_bytes(ticks_per_second),
        row_chunks: row_chunks + SPARE_ROW_CHUNKS,
        block_chunks: block_chunks + SPARE_BLOCK_CHUNKS,
    }
}

/// Chunks for the rows of `update`, and for their blocks. Files begin at chunks.
fn chunks_of(update: &Update) -> (u32, u32) {
    let chunks = |first: u32, count: usize, per_chunk: u32| {
        let end = first as usize + count;
        u32::try_from(end.div_ceil(per_chunk as usize)).expect("fewer than 2^32 chunks")
    };
    update.files.last().map_or((0, 0), |last| {
        (
            chunks(last.first_row, last.rows.len(), ROWS_PER_CHUNK),
            chunks(last.first_block, last.blocks.rows.len(), BLOCKS_PER_CHUNK),
        )
    })
}
