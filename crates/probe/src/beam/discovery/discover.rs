//! Discovers all parts of the layout in order: each needs the parts before it.

use rabbitscope_profiles::ThreadKind;

use super::{
    bif_table,
    evidence::{Evidence, Unclear},
    exports::Exports,
    polling::{self, Looks},
    processes::{self, Processes},
    schedulers::{Blocks, Counts, Search},
    shared_code,
    static_data::StaticData,
};
use crate::{
    beam::{CodeMap, layout::Layout, pids::Pids},
    node::ReadMemory,
};

/// Facts discovered in the running VM.
#[derive(Clone, Debug)]
pub(in super::super) struct Discovered {
    pub(in super::super) layout: Layout,
    pub(in super::super) pids: Pids,
    /// First block of each kind of schedulers; 0 for none.
    pub(in super::super) schedulers: SchedulerBases,
    /// Address and length in bytes of the table of BIFs.
    pub(in super::super) bif_table: Option<(u64, u64)>,
    /// The source of each part.
    pub(in super::super) evidence: Vec<Evidence>,
}

pub(in super::super) type SchedulerBases = [(ThreadKind, u64); 3];

/// Finds the layout of the VM in `memory`. `threads` are the kinds of its threads, with their numbers.
pub(in super::super) fn discover(
    memory: &impl ReadMemory,
    exports: &Exports,
    data: &StaticData,
    code: &CodeMap,
    threads: &[(ThreadKind, u32)],
    looks: Looks,
) -> Result<Discovered, Unclear> {
    let (shared, mut evidence) = shared_code::read(memory, code)?;
    let (processes, process_evidence) =
        processes::find(memory, exports, data, &shared, code.normal_exit())?;
    evidence.extend(process_evidence);
    let counts = counts(threads)?;
    let search = Search { memory, exports, data, code, registers: shared.registers, counts };
    let (blocks, block_evidence) = search.blocks()?;
    evidence.extend(block_evidence);
    let (current_process, running_evidence) = running(memory, &blocks, &counts, &processes, looks)?;
    evidence.push(running_evidence);
    let bif_table = bif_table::find(exports, data);
    evidence.extend(bif_table.iter().map(|(_, evidence)| evidence.clone()));
    let layout = Layout {
        scheduler_stride: blocks.distance,
        registers: shared.registers,
        current_process,
        scheduler_type: blocks.kind,
        number: blocks.number,
        dirty_number: blocks.dirty_number,
        id: processes.id,
        htop: shared.htop,
        stop: shared.stop,
        hend: processes.hend,
    };
    Ok(Discovered {
        layout,
        pids: processes.pids,
        schedulers: blocks.bases,
        bif_table: bif_table.map(|(span, _)| span),
        evidence,
    })
}

/// The number of threads of each kind: the highest number in a name.
fn counts(threads: &[(ThreadKind, u32)]) -> Result<Counts, Unclear> {
    let kinds = [ThreadKind::Scheduler, ThreadKind::DirtyCpu, ThreadKind::DirtyIo];
    let counts = kinds.map(|kind| {
        let own = threads.iter().filter(|(own, _)| *own == kind);
        own.map(|(_, number)| u64::from(*number)).max().unwrap_or(0)
    });
    if counts[0] == 0 {
        let seen = "no thread has the name of a scheduler (a VM that is starting has none yet)";
        return Err(Unclear::new("threads", seen));
    }
    Ok(counts)
}

fn running(
    memory: &impl ReadMemory,
    blocks: &Blocks,
    counts: &Counts,
    processes: &Processes,
    looks: Looks,
) -> Result<(u32, Evidence), Unclear> {
    let normal = blocks.bases[0].1;
    let addresses: Vec<u64> =
        (0..counts[0]).map(|index| normal + index * blocks.distance).collect();
    polling::find_running(memory, &addresses, processes, blocks.kind, looks)
}
