//! One clock for all nodes: a small program on every CPU finds the process of the interrupted thread and continues
//! in the program of that node (`bpf/clock.bpf.c`).

use aya::{
    Ebpf, EbpfLoader, include_bytes_aligned,
    maps::{HashMap, MapData, ProgramArray},
    programs::{PerfEvent, ProgramFd},
    util::online_cpus,
};

use rustix::time::ClockId;

use super::{
    attach::attach_clock,
    maps::take_map,
    program::{kernel_error, program},
};
use crate::{
    error::ProbeError,
    kernel_interface::{HeldSignals, INITIAL_PID_NAMESPACE, MAX_OBSERVED_NODES, ObservedProcess},
    node::{Process, has_initial_pids},
    permission::{MAPS, PROGRAM, raise},
    recorder::sampler::ClockPlace,
};

/// The shortest sleep that counts; no machine sleeps for less. The two clocks that show a sleep are not read at the
/// same moment, so that a small difference means nothing.
const SHORTEST_SLEEP_NANOS: i64 = 500_000_000;

/// A clock on every CPU. Dropping the value stops it.
pub(in super::super) struct SharedClock {
    observed: HashMap<MapData, ObservedProcess, u32>,
    programs: ProgramArray<MapData>,
    places: Places,
    /// True if processes are distinguished by their pids in the initial pid namespace.
    has_initial_pids: bool,
    name: &'static str,
    started_on: Machine,
    /// Keeps the program and its links alive.
    _ebpf: Ebpf,
}

impl SharedClock {
    /// Starts the clock, with `freq_hz` ticks per second on each CPU.
    pub(in super::super) fn start(freq_hz: u32) -> Result<Self, ProbeError> {
        let started_on = Machine::now()?;
        let _raised = raise(PROGRAM);
        let _held = HeldSignals::new();
        let has_initial_pids = has_initial_pids();
        let mut ebpf = EbpfLoader::new()
            .override_global("cfg_has_initial_pids", &u32::from(has_initial_pids), true)
            .load(include_bytes_aligned!(concat!(env!("OUT_DIR"), "/clock.bpf.o")))
            .map_err(kernel_error)?;
        program::<PerfEvent>(&mut ebpf, "on_clock").load().map_err(kernel_error)?;
        let observed = take_map(&mut ebpf, "observed_nodes", HashMap::try_from)?;
        let programs = take_map(&mut ebpf, "node_programs", ProgramArray::try_from)?;
        let name = attach_clock(program(&mut ebpf, "on_clock"), &started_on.cpus, freq_hz)?;
        let places = Places::default();
        Ok(Self { observed, programs, places, has_initial_pids, name, started_on, _ebpf: ebpf })
    }

    /// The clock's name: `cycles` or `cpu-clock`.
    pub(in super::super) fn name(&self) -> &'static str {
        self.name
    }

    /// Number of ticking CPUs.
    pub(in super::super) fn cpus(&self) -> u32 {
        u32::try_from(self.started_on.cpus.len()).expect("fewer than 2^32 CPUs")
    }

    /// Returns whether every CPU has the clock. A CPU that was offline has lost it, even if it is online again.
    /// After the machine's sleep only the first CPU still has it.
    pub(in super::super) fn is_everywhere(&self) -> bool {
        // An unreadable state counts as no.
        Machine::now().is_ok_and(|now| now.has_clocks_of(&self.started_on))
    }

    /// Makes ticks during a process continue in `program`.
    pub(super) fn connect(
        &mut self,
        process: &Process,
        program: &ProgramFd,
    ) -> Result<ClockPlace, ProbeError> {
        let index =
            self.places.free().ok_or(ProbeError::TooManyNodes { most: MAX_OBSERVED_NODES })?;
        let place = u32::try_from(index).expect("there are fewer places");
        let key = self.key_of(process)?;
        let _raised = raise(MAPS);
        self.programs.set(place, program, 0).map_err(kernel_error)?;
        self.observed.insert(observed(key), place, 0).map_err(kernel_error)?;
        self.places.take(index, key);
        Ok(ClockPlace(place))
    }

    /// The ids by which the clock's program knows a process.
    fn key_of(&self, process: &Process) -> Result<ProcessKey, ProbeError> {
        if self.has_initial_pids {
            return Ok((INITIAL_PID_NAMESPACE, process.pid));
        }
        let namespace = process.pid_namespace()?;
        Ok((u32::try_from(namespace.inode).unwrap_or_default(), namespace.tgid))
    }

    /// Stops ticks from continuing in the program of a node.
    pub(in super::super) fn disconnect(&mut self, place: ClockPlace) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        if let Some(key) = self.places.leave(place.0 as usize) {
            self.observed.remove(&observed(key)).map_err(kernel_error)?;
        }
        self.programs.clear_index(&place.0).map_err(kernel_error)
    }
}

/// The state of the machine on which running clocks depend.
#[derive(Debug)]
struct Machine {
    /// Online CPUs.
    cpus: Vec<u32>,
    /// Time asleep since a fixed moment: a time namespace moves both clocks.
    asleep_nanos: i64,
}

impl Machine {
    fn now() -> Result<Self, ProbeError> {
        let cpus = online_cpus()
            .map_err(|(action, source)| ProbeError::Io { action: action.into(), source })?;
        // In this order, so that time between the two reads looks like less sleep, not more.
        let (with_sleep, without) = (nanos(ClockId::Boottime), nanos(ClockId::Monotonic));
        Ok(Self { cpus, asleep_nanos: with_sleep - without })
    }

    /// Returns whether clocks started on `before` all still run.
    fn has_clocks_of(&self, before: &Self) -> bool {
        self.cpus == before.cpus && self.asleep_nanos - before.asleep_nanos < SHORTEST_SLEEP_NANOS
    }
}

fn nanos(clock: ClockId) -> i64 {
    let now = rustix::time::clock_gettime(clock);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn observed((pid_namespace, tgid): ProcessKey) -> ObservedProcess {
    ObservedProcess { pid_namespace, tgid }
}

/// The inode of a pid namespace, and a pid in it. The kernel reuses both: a restarted container may have those of
/// the one before.
type ProcessKey = (u32, u32);

/// The owner of each index of the programs.
#[derive(Debug)]
struct Places([Option<ProcessKey>; MAX_OBSERVED_NODES]);

impl Default for Places {
    fn default() -> Self {
        Self([None; MAX_OBSERVED_NODES])
    }
}

impl Places {
    fn free(&self) -> Option<usize> {
        self.0.iter().position(Option::is_none)
    }

    fn take(&mut self, index: usize, key: ProcessKey) {
        self.0[index] = Some(key);
    }

    /// Frees a place. Returns its key, unless the key leads to another place by now.
    fn leave(&mut self, index: usize) -> Option<ProcessKey> {
        let key = self.0[index].take()?;
        (!self.0.contains(&Some(key))).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_OBSERVED_NODES, Machine, Places};

    #[test]
    fn clocks_go_on_while_cpus_stay_and_nothing_sleeps() {
        let at = |cpus: &[u32], millis: i64| Machine {
            cpus: cpus.to_vec(),
            asleep_nanos: millis * 1_000_000,
        };
        let before = at(&[0, 1], 5000);
        assert!(at(&[0, 1], 5020).has_clocks_of(&before));
        assert!(at(&[0, 1], 4990).has_clocks_of(&before));
        assert!(!at(&[0, 1], 7000).has_clocks_of(&before));
        assert!(!at(&[0], 5000).has_clocks_of(&before));
        assert!(!at(&[0, 1, 2], 5000).has_clocks_of(&before));
        let now = Machine::now().unwrap();
        assert!(!now.cpus.is_empty() && Machine::now().unwrap().has_clocks_of(&now));
    }

    #[test]
    fn a_restarted_container_with_the_same_ids_stays_connected() {
        let (mut places, container) = (Places::default(), (4_026_532_500, 1));
        places.take(places.free().unwrap(), container);
        // The container restarted before its end was noticed.
        places.take(places.free().unwrap(), container);
        assert_eq!(places.leave(0), None, "the key leads to the second");
        assert_eq!(places.leave(1), Some(container));
        assert_eq!(places.leave(1), None);
        for index in 0..MAX_OBSERVED_NODES {
            assert_eq!(places.free(), Some(index));
            places.take(index, (7, 1));
        }
        assert_eq!(places.free(), None);
    }
}
