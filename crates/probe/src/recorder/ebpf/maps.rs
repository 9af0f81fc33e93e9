//! The maps that user space shares with the programs. Every access needs a privilege, which this module raises.

use aya::{
    Ebpf, Pod,
    maps::{Array, HashMap, Map, MapData, MapError, PerCpuArray},
};
use rabbitscope_profiles::ThreadKind;

use super::program::kernel_error;
use crate::{
    beam::SchedulerBlock,
    error::ProbeError,
    kernel_interface::{
        BLOCKS_PER_CHUNK, Counter, MAX_UNWIND_MODULES, OffCpuThread, ROWS_PER_CHUNK, RawSample,
        RecordingState, RowBlockChunk, SNAPSHOTS, SampleKey, Scheduler, Snapshot, UnwindModules,
        UnwindRowChunk,
    },
    native::{UNUSED_MODULE, Update},
    permission::{MAPS, raise},
};

/// All maps except the ring buffer.
pub(super) struct Maps {
    samples: HashMap<MapData, SampleKey, RawSample>,
    recording_state: Array<MapData, RecordingState>,
    counters: PerCpuArray<MapData, u64>,
    snapshots: Array<MapData, Snapshot>,
    snapshots_wanted: Array<MapData, u64>,
    unwind_rows: Array<MapData, UnwindRowChunk>,
    row_blocks: Array<MapData, RowBlockChunk>,
    unwind_modules: Array<MapData, UnwindModules>,
    off_cpu_threads: HashMap<MapData, u32, OffCpuThread>,
    heap_end: Array<MapData, u64>,
}

impl Maps {
    /// Takes the maps out of the loaded object.
    pub(super) fn take(ebpf: &mut Ebpf) -> Result<Self, ProbeError> {
        Ok(Self {
            samples: take_map(ebpf, "samples", HashMap::try_from)?,
            recording_state: take_map(ebpf, "recording_state", Array::try_from)?,
            counters: take_map(ebpf, "counters", PerCpuArray::try_from)?,
            snapshots: take_map(ebpf, "snapshots", Array::try_from)?,
            snapshots_wanted: take_map(ebpf, "snapshots_wanted", Array::try_from)?,
            unwind_rows: take_map(ebpf, "unwind_rows", Array::try_from)?,
            row_blocks: take_map(ebpf, "row_blocks", Array::try_from)?,
            unwind_modules: take_map(ebpf, "unwind_modules", Array::try_from)?,
            off_cpu_threads: take_map(ebpf, "off_cpu_threads", HashMap::try_from)?,
            heap_end: take_map(ebpf, "heap_end", Array::try_from)?,
        })
    }

    pub(super) fn set_recording_state(&mut self, state: RecordingState) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        self.recording_state.set(0, state, 0).map_err(kernel_error)
    }

    pub(super) fn set_heap_end(&mut self, address: u64) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        self.heap_end.set(0, address, 0).map_err(kernel_error)
    }

    /// A counter since attach, over all CPUs.
    pub(super) fn counter(&self, counter: Counter) -> Result<u64, ProbeError> {
        let _raised = raise(MAPS);
        let values = self.counters.get(&counter.number().into(), 0).map_err(kernel_error)?;
        Ok(values.iter().sum())
    }

    /// Keys of the samples of a generation.
    pub(super) fn keys_of(&self, generation: u64) -> Vec<SampleKey> {
        let _raised = raise(MAPS);
        let all = self.samples.keys().filter_map(Result::ok);
        all.filter(|key| key.generation == generation).collect()
    }

    /// Reads a sample and removes it from the map.
    pub(super) fn take_sample(&mut self, key: &SampleKey) -> Result<RawSample, ProbeError> {
        let _raised = raise(MAPS);
        let sample = self.samples.get(key, 0);
        self.samples.remove(key).and(sample).map_err(kernel_error)
    }

    pub(super) fn off_cpu_threads(&self) -> Vec<OffCpuThread> {
        let _raised = raise(MAPS);
        self.off_cpu_threads.iter().filter_map(Result::ok).map(|(_, thread)| thread).collect()
    }

    pub(super) fn request_snapshots(&mut self) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        self.snapshots_wanted.set(0, u64::from(SNAPSHOTS), 0).map_err(kernel_error)
    }

    /// The complete snapshots.
    pub(super) fn snapshots(&self) -> Result<Vec<Snapshot>, ProbeError> {
        let _raised = raise(MAPS);
        let all: Result<Vec<Snapshot>, MapError> = self.snapshots.iter().collect();
        Ok(all.map_err(kernel_error)?.into_iter().filter(|snapshot| snapshot.valid == 1).collect())
    }

    /// Adds unwind rows, and sets the list of modules `list`. Rows without room are dropped: walks through their
    /// code count as cut.
    pub(super) fn set_unwinding(&mut self, update: &Update, list: u32) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        for file in &update.files {
            let chunks = file.rows.chunks(ROWS_PER_CHUNK as usize).map(|rows| {
                let mut chunk = UnwindRowChunk::default();
                chunk.rows[..rows.len()].copy_from_slice(rows);
                chunk
            });
            set_from(&mut self.unwind_rows, file.first_row / ROWS_PER_CHUNK, chunks)?;
            let chunks = file.blocks.rows.chunks(BLOCKS_PER_CHUNK as usize).map(|rows| {
                let mut chunk = RowBlockChunk::default();
                chunk.rows[..rows.len()].copy_from_slice(rows);
                chunk
            });
            set_from(&mut self.row_blocks, file.first_block / BLOCKS_PER_CHUNK, chunks)?;
        }
        let mut modules = UnwindModules { list: [UNUSED_MODULE; MAX_UNWIND_MODULES] };
        for (slot, module) in modules.list.iter_mut().zip(&update.modules) {
            *slot = *module;
        }
        self.unwind_modules.set(list, modules, 0).map_err(kernel_error)
    }
}

/// Fills the map `schedulers`, which is not needed again.
pub(super) fn set_schedulers(ebpf: &mut Ebpf, blocks: &[SchedulerBlock]) -> Result<(), ProbeError> {
    let mut map: HashMap<MapData, u32, Scheduler> =
        take_map(ebpf, "schedulers", HashMap::try_from)?;
    let _raised = raise(MAPS);
    for block in blocks {
        let runs_jit = u64::from(block.kind == ThreadKind::Scheduler);
        map.insert(block.tid, Scheduler { data: block.data, runs_jit }, 0).map_err(kernel_error)?;
    }
    Ok(())
}

pub(super) fn take_map<M>(
    ebpf: &mut Ebpf,
    name: &str,
    convert: impl FnOnce(Map) -> Result<M, MapError>,
) -> Result<M, ProbeError> {
    let map = ebpf.take_map(name).expect("the object defines this map");
    convert(map).map_err(kernel_error)
}

/// Sets entries from `first` on, as far as the map has room.
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
