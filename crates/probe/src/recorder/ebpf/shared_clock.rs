//! One clock for all nodes: a small program on every CPU looks up whose thread was interrupted and continues in the
//! program of that node (`bpf/clock.bpf.c`).

use aya::{
    Ebpf, EbpfLoader, include_bytes_aligned,
    maps::{HashMap, MapData, ProgramArray},
    programs::{PerfEvent, ProgramFd},
    util::online_cpus,
};

use super::{
    attach::attach_clock,
    maps::take_map,
    program::{kernel_error, program},
};
use crate::{
    error::ProbeError,
    kernel_interface::{MAX_OBSERVED_NODES, ObservedProcess},
    node::PidNamespace,
    permission::{MAPS, PROGRAM, raise},
    recorder::sampler::ClockPlace,
};

/// A clock on every CPU. Dropping the value stops it.
pub(in super::super) struct SharedClock {
    observed: HashMap<MapData, ObservedProcess, u32>,
    programs: ProgramArray<MapData>,
    /// Who has each index of `programs`.
    taken: [Option<ObservedProcess>; MAX_OBSERVED_NODES],
    name: &'static str,
    /// Keeps the program and its links alive.
    _ebpf: Ebpf,
}

impl SharedClock {
    /// Starts the clock, with so many ticks a second on each CPU.
    pub(in super::super) fn start(freq_hz: u32) -> Result<Self, ProbeError> {
        let cpus = online_cpus()
            .map_err(|(action, source)| ProbeError::Io { action: action.into(), source })?;
        let _raised = raise(PROGRAM);
        let mut ebpf = EbpfLoader::new()
            .load(include_bytes_aligned!(concat!(env!("OUT_DIR"), "/clock.bpf.o")))
            .map_err(kernel_error)?;
        program::<PerfEvent>(&mut ebpf, "on_clock").load().map_err(kernel_error)?;
        let observed = take_map(&mut ebpf, "observed_nodes", HashMap::try_from)?;
        let programs = take_map(&mut ebpf, "node_programs", ProgramArray::try_from)?;
        let name = attach_clock(program(&mut ebpf, "on_clock"), &cpus, freq_hz)?;
        Ok(Self { observed, programs, taken: [None; MAX_OBSERVED_NODES], name, _ebpf: ebpf })
    }

    /// `cycles` or `cpu-clock`.
    pub(in super::super) fn name(&self) -> &'static str {
        self.name
    }

    /// Lets the ticks that fall on a process continue in `program`.
    pub(super) fn connect(
        &mut self,
        process: &PidNamespace,
        program: &ProgramFd,
    ) -> Result<ClockPlace, ProbeError> {
        let free = self.taken.iter().position(Option::is_none);
        let index = free.ok_or(ProbeError::TooManyNodes { most: MAX_OBSERVED_NODES })?;
        let place = u32::try_from(index).expect("there are fewer places");
        let pid_namespace = u32::try_from(process.inode).unwrap_or_default();
        let key = ObservedProcess { pid_namespace, tgid: process.tgid };
        let _raised = raise(MAPS);
        self.programs.set(place, program, 0).map_err(kernel_error)?;
        self.observed.insert(key, place, 0).map_err(kernel_error)?;
        self.taken[index] = Some(key);
        Ok(ClockPlace(place))
    }

    /// Lets no tick continue in the program of a node any more.
    pub(in super::super) fn disconnect(&mut self, place: ClockPlace) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        if let Some(key) = self.taken[place.0 as usize].take() {
            self.observed.remove(&key).map_err(kernel_error)?;
            self.programs.clear_index(&place.0).map_err(kernel_error)?;
        }
        Ok(())
    }
}
