//! The perf-events sampler: opens the clocks and their rings, and passes on the samples.

use std::{
    collections::HashMap,
    io,
    os::fd::{AsFd, OwnedFd},
};

use aya::util::online_cpus;
use rabbitscope_machine::kernel_setting;
use rabbitscope_profiles::Event;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{
    clock::{self, Clock, permitted_clock},
    records::{self, Record},
    ring::Ring,
    stack::{SampleStack, StackReader},
    threads::Threads,
};
use crate::{
    arch::machine::calls::HAS_ERLANG_STACK,
    beam::SCHEDULE,
    error::ProbeError,
    kernel_interface::{JitCode, KernelTime},
    native::{Update, Walker},
    node::{Process, ReadMemory},
    permission::{CLOCK, raise},
    recorder::sampler::{FetchedSample, Request, SampleCounts, Sampler, Target},
};

/// Pages of a ring, 2 MiB: the samples of most of a second on a busy CPU, for a recorder that does not get a CPU at
/// once. An ordinary user may lock a quarter of that on each CPU (`sysctl kernel.perf_event_mlock_kb`, 516 KiB),
/// and more up to the limit of `ulimit -l`.
const RING_PAGES: usize = 512;
/// Minimum of pages, 32 KiB: 13 samples of about 2.5 KB. A busy CPU has that many in 13 ms at 999 Hz.
const MIN_RING_PAGES: usize = 8;

/// The kernel's default limit of addresses in a call chain (`sysctl kernel.perf_event_max_stack`).
const DEFAULT_MAX_ADDRESSES: usize = 127;

/// Samples of one node through perf events. Dropping the value closes the events.
pub(in super::super) struct PerfEventsSampler {
    rings: Vec<Ring>,
    /// Events that write into the ring of another event.
    redirected: Vec<OwnedFd>,
    reader: StackReader,
    threads: Threads,
    process: Process,
    /// Offset of `Process.common.id` in an Erlang process.
    id_offset: u64,
    /// Start of the recording: earlier records are not part of it.
    earliest: KernelTime,
    /// Start of the window.
    start: KernelTime,
    counts: SampleCounts,
    clock: Clock,
    cpus: u32,
}

impl PerfEventsSampler {
    /// Opens a clock on every thread of the node. The clocks tick from the start of the recording on.
    pub(in super::super) fn attach(
        target: &Target<'_>,
        request: Request<'_>,
    ) -> Result<Self, ProbeError> {
        let &Target { emulator, code, .. } = target;
        let pid = target.process.pid;
        let clock = permitted_clock(pid).map_err(|error| refused(pid, &error))?;
        let process = Process::open(pid)?;
        let cpus = online_cpus()
            .map_err(|(action, source)| ProbeError::Io { action: action.into(), source })?;
        raise_descriptor_limit();
        let opened = {
            let _raised = raise(CLOCK);
            open_all(&process, &clock, request.freq_hz, &cpus)
        };
        let (rings, redirected) = opened.map_err(|error| refused(pid, &error))?;
        let mut walker = Walker::default();
        walker.update(target.unwind);
        Ok(Self {
            rings,
            redirected,
            reader: StackReader {
                walker,
                jit: target.jit,
                normal_exit: code.normal_exit(),
                schedule: code.span_of(SCHEDULE).unwrap_or_default(),
                has_frame_pointers: code.has_frame_pointers(),
                has_erlang_stack: HAS_ERLANG_STACK,
                max_addresses: max_addresses(),
            },
            threads: Threads::new(&process, emulator, target.schedulers),
            process,
            id_offset: emulator.layout.id.into(),
            earliest: KernelTime::default(),
            start: KernelTime::default(),
            counts: SampleCounts::default(),
            clock,
            cpus: u32::try_from(cpus.len()).expect("fewer than 2^32 CPUs"),
        })
    }

    /// Adds the id of the Erlang process, and passes the sample on.
    fn pass_on(
        &self,
        SampleStack { mut sample, process }: SampleStack,
        time: KernelTime,
        ids: &mut HashMap<u64, u64>,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) {
        if let Some(address) = process {
            let id = ids.entry(address).or_insert_with(|| self.id_of(address));
            sample.head.process = *id;
        }
        let first_step = time.step_since(self.start);
        each(FetchedSample { event: Event::Cpu, raw: &sample, first_step });
    }

    /// The pid term of the process at `address`, or 0. It is read shortly after the tick, so that the process may
    /// have ended.
    fn id_of(&self, address: u64) -> u64 {
        const TAG_BITS: u64 = 0xf;
        const LOCAL_PID: u64 = 3;
        let word = self.process.word(address.wrapping_add(self.id_offset)).unwrap_or(0);
        if word & TAG_BITS == LOCAL_PID { word } else { 0 }
    }
}

impl Sampler for PerfEventsSampler {
    fn recorder(&self) -> &'static str {
        "perf events"
    }

    fn clock(&self) -> &'static str {
        self.clock.name
    }

    fn cpus(&self) -> u32 {
        self.cpus
    }

    fn begin(&mut self, start: KernelTime) -> Result<(), ProbeError> {
        (self.earliest, self.start) = (start, start);
        let redirected = self.redirected.iter().map(AsFd::as_fd);
        let mut all = self.rings.iter().map(Ring::event).chain(redirected);
        all.try_for_each(clock::start).map_err(|error| refused(self.process.pid, &error))
    }

    fn start(&self) -> KernelTime {
        self.start
    }

    fn counts(&self) -> Result<SampleCounts, ProbeError> {
        Ok(self.counts)
    }

    /// Returns whether there is any record: the id of a sample's process must be read soon after the tick.
    fn is_filling(&self) -> Result<bool, ProbeError> {
        Ok(self.rings.iter().any(Ring::has_records))
    }

    fn fetch(
        &mut self,
        _now: KernelTime,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) -> Result<(), ProbeError> {
        let mut rings = std::mem::take(&mut self.rings);
        let mut ids = HashMap::new();
        for ring in &mut rings {
            ring.drain(|kind, misc, body| match records::parse(kind, misc, body) {
                Record::Tick(tick) if tick.time >= self.earliest => {
                    self.counts.ticks += 1;
                    let thread = self.threads.find(tick.tid, &self.process);
                    let stack = self.reader.read(&tick, thread);
                    self.pass_on(stack, tick.time, &mut ids, each);
                }
                Record::Lost(count) => self.counts.lost += count,
                Record::Tick(_) | Record::Other => {}
            });
        }
        self.rings = rings;
        Ok(())
    }

    fn end_window(
        &mut self,
        now: KernelTime,
        each: &mut dyn FnMut(FetchedSample<'_>),
    ) -> Result<(), ProbeError> {
        self.fetch(now, each)?;
        self.start = now.step_begin(self.start);
        Ok(())
    }

    fn update_code(&mut self, jit: JitCode) -> Result<(), ProbeError> {
        self.reader.jit = jit;
        Ok(())
    }

    fn update_unwinding(&mut self, update: &Update) -> Result<(), ProbeError> {
        self.reader.walker.update(update);
        Ok(())
    }

    fn notes(&self) -> Result<Vec<String>, ProbeError> {
        let kernel = "the kernel's own time was not sampled: for an ordinary user, this needs sysctl \
                      kernel.perf_event_paranoid 1 or lower";
        let pointers = "the node has no frame pointers (+JPperf true): only samples in Erlang code have Erlang \
                        callers; samples in C functions count as broken";
        let no_stack = "perf events have no Erlang stack on this architecture: Erlang callers are unknown, and \
                        samples on processes count as broken";
        let reader = &self.reader;
        let notes = [
            (!self.clock.sees_kernel, kernel),
            (!reader.has_frame_pointers && reader.has_erlang_stack, pointers),
            (!reader.has_erlang_stack, no_stack),
        ];
        Ok(notes
            .into_iter()
            .filter(|(applies, _)| *applies)
            .map(|(_, note)| note.to_owned())
            .collect())
    }
}

/// Opens a clock for each thread on each CPU, and a ring for each CPU. An event on all CPUs could not share a ring
/// with the threads that its thread starts. A ring for each thread would need more memory than a user may lock.
fn open_all(
    process: &Process,
    clock: &Clock,
    freq_hz: u32,
    cpus: &[u32],
) -> io::Result<(Vec<Ring>, Vec<OwnedFd>)> {
    let threads = process.threads().map_err(io::Error::other)?;
    let mut rings = Vec::new();
    let mut redirected = Vec::new();
    for &cpu in cpus {
        let mut ring: Option<Ring> = None;
        for thread in &threads {
            let event = match clock::open(clock, freq_hz, thread.outside, Some(cpu)) {
                Ok(event) => event,
                Err(error) if has_ended(&error) => continue,
                Err(error) => return Err(error),
            };
            match &ring {
                Some(ring) => {
                    clock::redirect(&event, ring.event())?;
                    redirected.push(event);
                }
                None => ring = Some(largest_ring(&event)?),
            }
        }
        rings.extend(ring);
    }
    Ok((rings, redirected))
}

/// Maps the largest ring that the kernel allows now: other programs of the user may have locked memory too.
fn largest_ring(event: &OwnedFd) -> io::Result<Ring> {
    let mut pages = RING_PAGES;
    loop {
        match Ring::map(event.try_clone()?, pages) {
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && pages > MIN_RING_PAGES =>
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

/// Raises the limit of open files to the hard limit: each thread on each CPU needs a descriptor.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If that is refused, opening the events fails with a message.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn max_addresses() -> usize {
    kernel_setting("perf_event_max_stack").unwrap_or(DEFAULT_MAX_ADDRESSES)
}

fn refused(pid: u32, error: &io::Error) -> ProbeError {
    ProbeError::PerfEvents { pid, detail: error.to_string() }
}
