//! The tier below eBPF: clocks on each thread of the node whose samples the kernel writes into rings, with
//! the user's registers, the inner part of its stack and what its frame pointers lead to. An ordinary user
//! may have it for processes of their own (`sysctl kernel.perf_event_paranoid`).
//!
//! The path of a sample: clock tick → [`ring`] → [`records`] → [`stack`] → the same [`RawSample`] that the
//! program in the kernel makes. What is missing there: the Erlang stack below C functions that use the frame
//! pointer for something else, the process of those whose C functions could not be walked, and names of BIFs
//! that only the VM itself notes.

mod open;
mod records;
mod ring;
mod stack;
mod threads;

use std::{
    collections::HashMap,
    fs, io,
    os::fd::{AsFd, OwnedFd},
};

use aya::util::online_cpus;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{
    source::Source,
    wire::{Live, RawSample},
};
use crate::{
    beam::{CodeMap, Emulator, SCHEDULE, SchedulerBlock},
    error::ProbeError,
    native::{Update, Walker},
    node::{Process, ReadMemory},
    permission::{CLOCK, raise},
};
use records::Record;
use ring::Ring;
use stack::{Read, StackReader};
use threads::Threads;

pub(crate) use open::{Clock, permitted_clock};

/// Of 4 KiB; room for the samples of most of a second on a busy CPU, for the recorder may have to wait for
/// its turn. An ordinary user may lock a quarter of it on each CPU (`sysctl kernel.perf_event_mlock_kb`),
/// and what `ulimit -l` says beside it.
const RING_PAGES: usize = 512;
const FEWEST_RING_PAGES: usize = 8;

/// Addresses in a call chain unless the machine's owner wants others.
const MOST_ADDRESSES: usize = 127;

/// Samples of one node through perf events. Dropping it ends the events.
pub(super) struct PerfEvents {
    rings: Vec<Ring>,
    /// Those that write into the ring of another one.
    events: Vec<OwnedFd>,
    reader: StackReader,
    threads: Threads,
    process: Process,
    /// Of `Process.common.id` in an Erlang process.
    id_offset: u64,
    since_nanos: u64,
    ticks: u64,
    lost: u64,
    clock: Clock,
    cpus: u32,
}

impl PerfEvents {
    /// Puts a clock on every thread of the node; they tick from the beginning of the recording on.
    pub(super) fn attach(
        pid: u32,
        emulator: &Emulator,
        code: &CodeMap,
        schedulers: &[SchedulerBlock],
        live: Live,
        unwind: &Update,
        freq_hz: u32,
    ) -> Result<Self, ProbeError> {
        let clock = permitted_clock(pid).map_err(|error| refused(pid, &error))?;
        let process = Process::open(pid)?;
        let cpus = online_cpus()
            .map_err(|(action, source)| ProbeError::Io { action: action.into(), source })?;
        allow_many_descriptors();
        let opened = {
            let _raised = raise(CLOCK);
            open_all(&process, &clock, freq_hz, &cpus)
        };
        let (rings, events) = opened.map_err(|error| refused(pid, &error))?;
        let mut walker = Walker::default();
        walker.update(unwind);
        Ok(Self {
            rings,
            events,
            reader: StackReader {
                walker,
                live,
                normal_exit: code.normal_exit(),
                between_processes: code.span_of(SCHEDULE).unwrap_or_default(),
                has_frame_pointers: code.has_frame_pointers(),
                most_addresses: most_addresses(),
            },
            threads: Threads::new(&process, emulator, schedulers),
            process,
            id_offset: emulator.layout.id.into(),
            since_nanos: 0,
            ticks: 0,
            lost: 0,
            clock,
            cpus: u32::try_from(cpus.len()).expect("fewer than 2^32 CPUs"),
        })
    }

    /// Names the Erlang process, and passes the sample on.
    fn give(
        &self,
        Read { mut sample, process }: Read,
        nanos: u64,
        ids: &mut HashMap<u64, u64>,
        each: &mut dyn FnMut(&RawSample, u32),
    ) {
        if let Some(address) = process {
            let id = ids.entry(address).or_insert_with(|| self.id_of(address));
            sample.process = *id;
        }
        each(&sample, self.step_of(nanos));
    }

    /// The pid term of the process at `address`, or 0. It is read a moment after the tick.
    fn id_of(&self, address: u64) -> u64 {
        const TAG_BITS: u64 = 0xf;
        const LOCAL_PID: u64 = 3;
        let word = self.process.word(address.wrapping_add(self.id_offset)).unwrap_or(0);
        if word & TAG_BITS == LOCAL_PID { word } else { 0 }
    }
}

impl Source for PerfEvents {
    fn recorder(&self) -> &'static str {
        "perf events"
    }

    fn clock(&self) -> &'static str {
        self.clock.name
    }

    fn cpus(&self) -> u32 {
        self.cpus
    }

    fn begin_at(&mut self, nanos: u64) -> Result<(), ProbeError> {
        self.since_nanos = nanos;
        let others = self.events.iter().map(AsFd::as_fd);
        let mut all = self.rings.iter().map(Ring::event).chain(others);
        all.try_for_each(open::start).map_err(|error| refused(self.process.pid, &error))
    }

    fn began_at(&self) -> u64 {
        self.since_nanos
    }

    fn taken_and_lost(&self) -> Result<(u64, u64), ProbeError> {
        Ok((self.ticks, self.lost))
    }

    /// Whose a sample is has to be read soon after it was taken.
    fn is_filling(&self) -> Result<bool, ProbeError> {
        Ok(self.rings.iter().any(Ring::has_records))
    }

    fn fetch(
        &mut self,
        _now_nanos: u64,
        each: &mut dyn FnMut(&RawSample, u32),
    ) -> Result<(), ProbeError> {
        let mut rings = std::mem::take(&mut self.rings);
        let mut ids = HashMap::new();
        for ring in &mut rings {
            ring.drain(|kind, misc, body| match records::parse(kind, misc, body) {
                Record::Tick(tick) if tick.nanos >= self.since_nanos => {
                    self.ticks += 1;
                    let thread = self.threads.find(tick.tid, &self.process);
                    let read = self.reader.read(&tick, thread);
                    self.give(read, tick.nanos, &mut ids, each);
                }
                Record::Lost(count) => self.lost += count,
                Record::Tick(_) | Record::Other => {}
            });
        }
        self.rings = rings;
        Ok(())
    }

    fn update_code(&mut self, live: Live) -> Result<(), ProbeError> {
        self.reader.live = live;
        Ok(())
    }

    fn update_unwinding(&mut self, update: &Update) -> Result<(), ProbeError> {
        self.reader.walker.update(update);
        Ok(())
    }

    fn remarks(&self) -> Result<Vec<String>, ProbeError> {
        let kernel = "the kernel's own time was not sampled: an ordinary user may see it where \
                      sysctl kernel.perf_event_paranoid is 1 or lower";
        let pointers = "the node has no frame pointers (+JPperf true): Erlang callers are known only \
                        of samples in Erlang code; those in C functions count as broken";
        let said = [(!self.clock.sees_kernel, kernel), (!self.reader.has_frame_pointers, pointers)];
        Ok(said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, it)| it.to_owned()).collect())
    }
}

/// A clock for each thread on each CPU, and a ring for each CPU: a thread's events on all CPUs together
/// could not have one ring with the threads that it starts, and a ring for each thread is more memory
/// than a user may lock.
fn open_all(
    process: &Process,
    clock: &Clock,
    freq_hz: u32,
    cpus: &[u32],
) -> io::Result<(Vec<Ring>, Vec<OwnedFd>)> {
    let threads = process.threads().map_err(io::Error::other)?;
    let mut rings = Vec::new();
    let mut events = Vec::new();
    for &cpu in cpus {
        let mut ring: Option<Ring> = None;
        for thread in &threads {
            let event = match open::open(clock, freq_hz, thread.outside, Some(cpu)) {
                Ok(event) => event,
                Err(error) if has_ended(&error) => continue,
                Err(error) => return Err(error),
            };
            match &ring {
                Some(ring) => {
                    open::redirect(&event, ring.event())?;
                    events.push(event);
                }
                None => ring = Some(largest_ring(&event)?),
            }
        }
        rings.extend(ring);
    }
    Ok((rings, events))
}

/// Others of this user may have locked memory as well.
fn largest_ring(event: &OwnedFd) -> io::Result<Ring> {
    let mut pages = RING_PAGES;
    loop {
        match Ring::map(event.try_clone()?, pages) {
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && pages > FEWEST_RING_PAGES =>
            {
                pages /= 2;
            }
            result => return result,
        }
    }
}

fn has_ended(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// As many as this process may have at all.
fn allow_many_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // Where it is not allowed, opening says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn most_addresses() -> usize {
    let text = fs::read_to_string("/proc/sys/kernel/perf_event_max_stack").ok();
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(MOST_ADDRESSES)
}

fn refused(pid: u32, error: &io::Error) -> ProbeError {
    ProbeError::PerfEvents { pid, detail: error.to_string() }
}
