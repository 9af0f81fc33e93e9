//! One clock for all nodes: a small program on every CPU looks up whose thread was interrupted and continues in the
//! program of that node (`bpf/clock.bpf.c`).

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
    kernel_interface::{INITIAL_PID_NAMESPACE, MAX_OBSERVED_NODES, ObservedProcess},
    node::{Process, has_initial_pids},
    permission::{MAPS, PROGRAM, raise},
    recorder::sampler::ClockPlace,
};

/// No machine sleeps for less. The two times by which that is seen are not read at once.
const SHORTEST_SLEEP_NANOS: i64 = 500_000_000;

/// A clock on every CPU. Dropping the value stops it.
pub(in super::super) struct SharedClock {
    observed: HashMap<MapData, ObservedProcess, u32>,
    programs: ProgramArray<MapData>,
    places: Places,
    /// Whether processes are told apart by their pids in the initial pid namespace.
    has_initial_pids: bool,
    name: &'static str,
    started_on: Machine,
    /// Keeps the program and its links alive.
    _ebpf: Ebpf,
}

impl SharedClock {
    /// Starts the clock, with so many ticks a second on each CPU.
    pub(in super::super) fn start(freq_hz: u32) -> Result<Self, ProbeError> {
        let started_on = Machine::now()?;
        let _raised = raise(PROGRAM);
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

    /// `cycles` or `cpu-clock`.
    pub(in super::super) fn name(&self) -> &'static str {
        self.name
    }

    /// How many CPUs tick.
    pub(in super::super) fn cpus(&self) -> u32 {
        u32::try_from(self.started_on.cpus.len()).expect("fewer than 2^32 CPUs")
    }

    /// Whether every CPU has the clock. One that was off has none, also when it is there again; so has each but the first
    /// after the machine was asleep.
    pub(in super::super) fn is_everywhere(&self) -> bool {
        // What cannot be read says nothing.
        Machine::now().is_ok_and(|now| now.has_clocks_of(&self.started_on))
    }

    /// Lets the ticks that fall on a process continue in `program`.
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

    /// Lets no tick continue in the program of a node any more.
    pub(in super::super) fn disconnect(&mut self, place: ClockPlace) -> Result<(), ProbeError> {
        let _raised = raise(MAPS);
        if let Some(key) = self.places.leave(place.0 as usize) {
            self.observed.remove(&observed(key)).map_err(kernel_error)?;
        }
        self.programs.clear_index(&place.0).map_err(kernel_error)
    }
}

/// What decides on which CPUs a clock goes on.
#[derive(Debug)]
struct Machine {
    /// Those that are online.
    cpus: Vec<u32>,
    /// How long it was asleep, from a beginning that stays the same: a time namespace moves both clocks.
    asleep_nanos: i64,
}

impl Machine {
    fn now() -> Result<Self, ProbeError> {
        let cpus = online_cpus()
            .map_err(|(action, source)| ProbeError::Io { action: action.into(), source })?;
        // In this order, so that time that passes between the two looks like less sleep, not more.
        let (with_sleep, without) = (nanos(ClockId::Boottime), nanos(ClockId::Monotonic));
        Ok(Self { cpus, asleep_nanos: with_sleep - without })
    }

    /// Whether clocks that were started on `before` all go on.
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

/// The inode of a pid namespace, and a pid in it. The kernel gives both again: a container that is started again may
/// have those of the one before.
type ProcessKey = (u32, u32);

/// Who has each index of the programs.
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

    /// Frees a place. The key that leads to it, unless it leads to another place by now.
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
    fn who_comes_with_the_ids_of_who_went_stays() {
        let (mut places, container) = (Places::default(), (4_026_532_500, 1));
        places.take(places.free().unwrap(), container);
        // It was started again before its end was noticed.
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
