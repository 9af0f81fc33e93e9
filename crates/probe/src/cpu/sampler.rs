//! The sampler in the kernel: load, attach to a clock on every CPU, fetch what it counted.

use std::{thread::sleep, time::Duration};

use aya::{
    Ebpf, Pod,
    maps::{Array, HashMap, MapData, MapError, PerCpuArray, RingBuf},
    programs::{
        RawTracePoint,
        perf_event::{PerfEventConfig, SamplePolicy, SoftwareEvent},
    },
    util::online_cpus,
};

use rabbitscope_profiles::{Event, ThreadKind};

use super::attach::{
    ON_PAGE_FAULT, Sizes, TRACEPOINT_PROGRAMS, attach_everywhere, kernel_error, load, program,
    start_clock, take, tracepoint_of,
};
use super::source::{Source, step_after};
use super::tick::read_tick;
use super::wire::{
    BLOCKS_PER_CHUNK, BlockChunk, Counter, Key, Live, MODULES, Modules, Pending, ROWS_PER_CHUNK,
    RawSample, RowChunk, SNAPSHOTS, Scheduler, TIME_STEP_NANOS,
};
use crate::{
    beam::{CodeMap, Emulator, SchedulerBlock, Snapshot},
    error::ProbeError,
    native::{Module, UnwindRow, Update},
    node::Process,
    permission::{MAPS, PROGRAM, raise},
};

/// A tick takes less than this, unless its stack is a very deep one; the ring has room for those of four
/// seconds, within limits.
const TICK_BYTES: u32 = 1 << 10;
const RING_SECONDS: u32 = 4;
const RING_BYTES: std::ops::RangeInclusive<u32> = 1 << 16..=1 << 26;

/// Distinct samples that the kernel keeps of events that come as often as the node likes. An entry has 5 KiB.
const ENTRIES_OF_EVENTS: u32 = 8192;
const ENTRIES_PER_CPU: u32 = 256;

/// Longer than a tick's program can run; after it nobody writes to the old generation.
const SETTLE: Duration = Duration::from_millis(2);

/// Room for unwind rows of libraries that the node loads while we sample, and for their blocks, in chunks
/// of 4 KiB.
const SPARE_ROW_CHUNKS: u32 = 512;
const SPARE_BLOCK_CHUNKS: u32 = 128;

/// What a recording is to hold.
pub(super) struct Asked<'a> {
    pub(super) events: &'a [Event],
    pub(super) freq_hz: u32,
    /// Where the node's heap of brk(2) ends now, 0 when that is not known.
    pub(super) heap_end: u64,
}

/// The attached program. Dropping it detaches it and frees all it held in the kernel.
pub(super) struct Sampler {
    /// Keeps the program and its links alive.
    ebpf: Ebpf,
    ticks: RingBuf<MapData>,
    /// The last of them.
    tick: Box<RawSample>,
    samples: HashMap<MapData, Key, RawSample>,
    live: Array<MapData, Live>,
    counters: PerCpuArray<MapData, u64>,
    snapshots: Array<MapData, Snapshot>,
    snapshots_wanted: Array<MapData, u64>,
    unwind_rows: Array<MapData, RowChunk>,
    row_blocks: Array<MapData, BlockChunk>,
    modules: Array<MapData, Modules>,
    pending: HashMap<MapData, u32, Pending>,
    heap_end: Array<MapData, u64>,
    state: Live,
    only_ticks: bool,
    ring_bytes: u32,
    /// Ticks that were fetched, and those of them that were none; there should be none of these.
    received: u64,
    unreadable: u64,
    capacity: u64,
    fetched: u64,
    /// What ticks: `cycles` or `cpu-clock`.
    clock: &'static str,
    /// CPUs it ticks on.
    cpus: u32,
}

impl Sampler {
    /// Loads the program for one node and starts the clock.
    pub(super) fn attach(
        process: &Process,
        emulator: &Emulator,
        code: &CodeMap,
        schedulers: &[SchedulerBlock],
        live: Live,
        unwind: &Update,
        asked: &Asked<'_>,
    ) -> Result<Self, ProbeError> {
        let cpus = online_cpus()
            .map_err(|(action, source)| ProbeError::Io { action: action.into(), source })?;
        let cpu_count = u32::try_from(cpus.len()).expect("fewer than 2^32 CPUs");
        let only_ticks = asked.events.iter().all(|&event| event == Event::Cpu);
        let capacity =
            if only_ticks { 1 } else { ENTRIES_OF_EVENTS.max(ENTRIES_PER_CPU * cpu_count) };
        let (row_chunks, block_chunks) = chunks_of(unwind);
        let row_chunks = row_chunks + SPARE_ROW_CHUNKS;
        let block_chunks = block_chunks + SPARE_BLOCK_CHUNKS;
        let ring_bytes = ring_bytes(cpu_count, asked);
        let sizes = Sizes { samples: capacity, ring_bytes, row_chunks, block_chunks };
        let _raised = raise(PROGRAM);
        let mut ebpf = load(process, emulator, code, sizes, asked.events)?;
        let mut sampler = Self {
            ticks: take(&mut ebpf, "ticks", RingBuf::try_from)?,
            tick: Box::new(RawSample::tick(0, 0, false)),
            samples: take(&mut ebpf, "samples", HashMap::try_from)?,
            live: take(&mut ebpf, "live", Array::try_from)?,
            counters: take(&mut ebpf, "counters", PerCpuArray::try_from)?,
            snapshots: take(&mut ebpf, "snapshots", Array::try_from)?,
            snapshots_wanted: take(&mut ebpf, "snapshots_wanted", Array::try_from)?,
            unwind_rows: take(&mut ebpf, "unwind_rows", Array::try_from)?,
            row_blocks: take(&mut ebpf, "row_blocks", Array::try_from)?,
            modules: take(&mut ebpf, "modules", Array::try_from)?,
            pending: take(&mut ebpf, "pending", HashMap::try_from)?,
            heap_end: take(&mut ebpf, "heap_end", Array::try_from)?,
            state: live,
            only_ticks,
            ring_bytes,
            received: 0,
            unreadable: 0,
            capacity: u64::from(capacity),
            fetched: 0,
            clock: "",
            cpus: cpu_count,
            ebpf,
        };
        sampler.fill_schedulers(schedulers)?;
        sampler.update_unwinding(unwind)?;
        sampler.heap_end.set(0, asked.heap_end, 0).map_err(kernel_error)?;
        sampler.start(&cpus, asked)?;
        Ok(sampler)
    }

    /// Attaches what the events need.
    fn start(&mut self, cpus: &[u32], asked: &Asked<'_>) -> Result<(), ProbeError> {
        for (name, events) in TRACEPOINT_PROGRAMS {
            if events.iter().any(|event| asked.events.contains(event)) {
                let tracepoint: &mut RawTracePoint = program(&mut self.ebpf, name);
                tracepoint.attach(tracepoint_of(name)).map_err(kernel_error)?;
            }
        }
        if asked.events.contains(&Event::PageFaults) {
            let faults = PerfEventConfig::Software(SoftwareEvent::PageFaults);
            let program = program(&mut self.ebpf, ON_PAGE_FAULT);
            attach_everywhere(program, faults, cpus, SamplePolicy::Period(1))
                .map_err(kernel_error)?;
        }
        if asked.events.contains(&Event::Cpu) {
            self.clock = start_clock(&mut self.ebpf, cpus, asked.freq_hz)?;
        }
        Ok(())
    }

    fn fill_schedulers(&mut self, blocks: &[SchedulerBlock]) -> Result<(), ProbeError> {
        let mut map: HashMap<MapData, u32, Scheduler> =
            take(&mut self.ebpf, "schedulers", HashMap::try_from)?;
        for block in blocks {
            let runs_jit = u64::from(block.kind == ThreadKind::Scheduler);
            map.insert(block.tid, Scheduler { data: block.data, runs_jit }, 0)
                .map_err(kernel_error)?;
        }
        Ok(())
    }

    fn write_live(&mut self) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        self.live.set(0, self.state, 0).map_err(kernel_error)
    }

    /// The register check goes on for the whole recording.
    fn disagreement(&self) -> Result<Option<String>, ProbeError> {
        let agrees = self.counter(Counter::JitAgrees)?;
        let disagrees = self.counter(Counter::JitDisagrees)?;
        let all = agrees + disagrees;
        Ok((disagrees * 50 > all).then(|| {
            format!(
                "in {disagrees} of {all} samples of JIT code the process register was not the \
                 scheduler's current process"
            )
        }))
    }

    /// A counter since attach.
    fn counter(&self, counter: Counter) -> Result<u64, ProbeError> {
        let _raised = raise(MAPS);
        let values = self.counters.get(&(counter as u32), 0).map_err(kernel_error)?;
        Ok(values.iter().sum())
    }
}

impl Source for Sampler {
    fn recorder(&self) -> &'static str {
        "eBPF"
    }

    fn clock(&self) -> &'static str {
        self.clock
    }

    fn cpus(&self) -> u32 {
        self.cpus
    }

    fn begin_at(&mut self, nanos: u64) -> Result<(), ProbeError> {
        self.state.since_nanos = nanos;
        self.state.generation_nanos = nanos;
        self.write_live()
    }

    fn began_at(&self) -> u64 {
        self.state.since_nanos
    }

    fn waiting(&self) -> Vec<Pending> {
        let _raised = raise(MAPS);
        self.pending.iter().filter_map(Result::ok).map(|(_, waiting)| waiting).collect()
    }

    fn taken_and_lost(&self) -> Result<(u64, u64), ProbeError> {
        Ok((self.counter(Counter::Ticks)?, self.counter(Counter::Lost)? + self.unreadable))
    }

    fn takes_snapshots(&self) -> bool {
        true
    }

    /// Tells the program that JIT code has moved or grown.
    fn update_code(&mut self, live: Live) -> Result<(), ProbeError> {
        let Live { generation, since_nanos, generation_nanos, modules_version, .. } = self.state;
        self.state = Live { generation, since_nanos, generation_nanos, modules_version, ..live };
        self.write_live()
    }

    /// Tells the program how to walk through new native code. Rows for which there is no room are
    /// left out: the walk then ends there, and is counted as cut.
    fn update_unwinding(&mut self, update: &Update) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        for file in &update.files {
            let chunks = file.rows.chunks(ROWS_PER_CHUNK.into()).map(|part| {
                let mut chunk = RowChunk([UnwindRow::default(); ROWS_PER_CHUNK as usize]);
                chunk.0[..part.len()].copy_from_slice(part);
                chunk
            });
            set_from(&mut self.unwind_rows, file.first_row / u32::from(ROWS_PER_CHUNK), chunks)?;
            let chunks = file.blocks.rows.chunks(BLOCKS_PER_CHUNK.into()).map(|part| {
                let mut chunk = BlockChunk([0; BLOCKS_PER_CHUNK as usize]);
                chunk.0[..part.len()].copy_from_slice(part);
                chunk
            });
            set_from(&mut self.row_blocks, file.first_block / u32::from(BLOCKS_PER_CHUNK), chunks)?;
        }
        let mut modules = Modules([Module::UNUSED; MODULES]);
        for (place, module) in modules.0.iter_mut().zip(&update.modules) {
            *place = *module;
        }
        self.state.modules_version += 1;
        let slot = u32::from(self.state.modules_version % 2 == 1);
        self.modules.set(slot, modules, 0).map_err(kernel_error)?;
        self.write_live()
    }

    fn request_snapshots(&mut self) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        self.snapshots_wanted.set(0, u64::from(SNAPSHOTS), 0).map_err(kernel_error)
    }

    fn snapshots(&self) -> Result<Vec<Snapshot>, ProbeError> {
        let _raised = raise(MAPS);
        let all: Result<Vec<Snapshot>, MapError> = self.snapshots.iter().collect();
        Ok(all.map_err(kernel_error)?.into_iter().filter(|snapshot| snapshot.valid == 1).collect())
    }

    /// True when a quarter of the ring or of the map is likely to be full.
    fn is_filling(&self) -> Result<bool, ProbeError> {
        let waiting = self.counter(Counter::Sent)?.saturating_sub(self.received);
        let counted = self.counter(Counter::New)?.saturating_sub(self.fetched);
        let sent = waiting * u64::from(TICK_BYTES);
        Ok(sent > u64::from(self.ring_bytes / 4) || counted > self.capacity / 4)
    }

    /// Takes all samples out of the kernel.
    fn fetch(
        &mut self,
        now_nanos: u64,
        each: &mut dyn FnMut(&RawSample, u32),
    ) -> Result<(), ProbeError> {
        self.fetch_ticks(now_nanos, each);
        if self.only_ticks { Ok(()) } else { self.fetch_counted(now_nanos, each) }
    }

    fn remarks(&self) -> Result<Vec<String>, ProbeError> {
        let disagreement = self.disagreement()?;
        let missing = self.counter(Counter::KernelStackLost)?;
        let kernel = (missing > 0).then(|| {
            format!(
                "{missing} samples in the kernel end at the call into it: its stack was not given"
            )
        });
        Ok(disagreement.into_iter().chain(kernel).collect())
    }
}

impl Sampler {
    /// Ticks since the beginning, until now; what comes meanwhile is left for the next time.
    fn fetch_ticks(&mut self, now_nanos: u64, each: &mut dyn FnMut(&RawSample, u32)) {
        while let Some(bytes) = self.ticks.next() {
            self.received += 1;
            let Some(nanos) = read_tick(&bytes, &mut self.tick) else {
                self.unreadable += 1;
                continue;
            };
            if nanos >= self.state.since_nanos {
                each(&self.tick, step_after(self.state.since_nanos, nanos));
            }
            if nanos > now_nanos {
                break;
            }
        }
    }

    /// What is counted, with the step of time that its times count from. No count is lost: the program is
    /// switched to a new generation first and what it still does with the old one is waited for.
    fn fetch_counted(
        &mut self,
        now_nanos: u64,
        each: &mut dyn FnMut(&RawSample, u32),
    ) -> Result<(), ProbeError> {
        let old = self.state.generation;
        let first_step = self.step_of(self.state.generation_nanos);
        self.state.generation = old.wrapping_add(1);
        self.state.generation_nanos =
            self.state.since_nanos + u64::from(self.step_of(now_nanos)) * TIME_STEP_NANOS;
        self.write_live()?;
        sleep(SETTLE);
        let raised = raise(MAPS);
        let all = self.samples.keys().filter_map(Result::ok);
        let keys: Vec<Key> = all.filter(|key| key.generation == old).collect();
        drop(raised);
        self.fetched += keys.len() as u64;
        for key in keys {
            each(&self.take_out(&key)?, first_step);
        }
        Ok(())
    }

    fn take_out(&mut self, key: &Key) -> Result<RawSample, ProbeError> {
        let _raised = raise(MAPS);
        let sample = self.samples.get(key, 0);
        self.samples.remove(key).and(sample).map_err(kernel_error)
    }
}

fn ring_bytes(cpus: u32, asked: &Asked<'_>) -> u32 {
    let ticks = if asked.events.contains(&Event::Cpu) { cpus * asked.freq_hz } else { 0 };
    let bytes = ticks
        .saturating_mul(RING_SECONDS * TICK_BYTES)
        .clamp(*RING_BYTES.start(), *RING_BYTES.end());
    bytes.next_power_of_two()
}

/// Chunks that the rows of `update` need, and those that their blocks need. Files begin at chunks.
fn chunks_of(update: &Update) -> (u32, u32) {
    let chunks = |first: u32, count: usize, each: u16| {
        let end = first as usize + count;
        u32::try_from(end.div_ceil(each.into())).expect("fewer than 2^32 chunks")
    };
    update.files.last().map_or((0, 0), |last| {
        (
            chunks(last.first_row, last.rows.len(), ROWS_PER_CHUNK),
            chunks(last.first_block, last.blocks.rows.len(), BLOCKS_PER_CHUNK),
        )
    })
}

/// Fills in entries from `first` on, as far as there is room.
fn set_from<T: Pod>(
    map: &mut Array<MapData, T>,
    first: u32,
    values: impl Iterator<Item = T>,
) -> Result<(), ProbeError> {
    for (index, value) in (first..map.len()).zip(values) {
        map.set(index, value, 0).map_err(kernel_error)?;
    }
    Ok(())
}
