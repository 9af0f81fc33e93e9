//! The recording of a node, and the names of its processes.

use std::{
    sync::mpsc::Sender,
    thread::{self, JoinHandle},
};

use rabbitscope_diagnosis::{Cpu, Part, Source, Unread, Waits};
use rabbitscope_erlang::ConnectOptions;
use rabbitscope_inside::{IdentityResolver, ModuleBorrower};
use rabbitscope_probe::{Backend, Options, ProbeError, Recorded, choose_backend};
use rabbitscope_profiles::{Event, Profile};

use super::{cpu::cpu, waits::waits};
use crate::{
    options::CheckOptions,
    pending::Unready,
    refusal::{missing_rights, refused},
    span::Span,
};

/// Parts of a case that come from profiles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProfileParts {
    pub(crate) cpu: Part<Cpu>,
    pub(crate) waits: Part<Waits>,
}

impl ProfileParts {
    /// Returns parts that both lack for the same reason.
    pub(crate) fn unread(reason: &Unread) -> Self {
        let of = |source| Unread { source, ..reason.clone() };
        Self { cpu: Err(of(Source::CpuProfile)), waits: Err(of(Source::OffCpuProfile)) }
    }

    fn from_profiles(profiles: &[Profile], missing_waits: &Unread) -> Self {
        let of = |event| profiles.iter().find(|profile| profile.event == event);
        let cpu = of(Event::Cpu).map(cpu);
        let waits = of(Event::OffCpu).map(|profile| waits(profile, cpu.as_ref()));
        Self {
            cpu: cpu.ok_or_else(|| Unread::new(Source::CpuProfile)),
            waits: waits.ok_or_else(|| missing_waits.clone()),
        }
    }
}

/// Records until the span is over. Sends the parts with pids alone, and again once the node has named its processes.
pub(crate) fn record(
    pid: u32,
    options: &CheckOptions,
    borrower: ModuleBorrower,
    (span, unready): (&Span, Unready),
    results: &Sender<ProfileParts>,
) {
    let connect = options.connect.as_ref().ok();
    let resolver = connect.map(|connect| start_resolver(connect.clone(), borrower));
    let (mut recorded, missing_waits) = match record_events(pid, options, span, unready) {
        Ok(recorded) => recorded,
        Err(error) => {
            let reason = refused(Source::CpuProfile, &error);
            let _ = results.send(ProfileParts::unread(&reason));
            return;
        }
    };
    let _ = results.send(ProfileParts::from_profiles(&recorded.profiles, &missing_waits));
    if let Some(Ok(resolver)) = resolver.map(JoinHandle::join) {
        resolver.resolve(&mut recorded.profiles);
        let _ = results.send(ProfileParts::from_profiles(&recorded.profiles, &missing_waits));
    }
}

/// Connects to the node while the recording starts.
fn start_resolver(
    connect: ConnectOptions,
    borrower: ModuleBorrower,
) -> JoinHandle<IdentityResolver> {
    thread::spawn(move || IdentityResolver::start_with(Ok::<_, String>(connect), Some(borrower)))
}

/// Records CPU time, and time off the CPU where backend and kernel have it. Returns the reason against the latter.
fn record_events(
    pid: u32,
    options: &CheckOptions,
    span: &Span,
    unready: Unready,
) -> Result<(Recorded, Unread), ProbeError> {
    let mut unready = Some(unready);
    let mut record = |events: &[Event]| {
        let (events, freq_hz) = (events.to_vec(), options.frequency_hz);
        let options = Options { pid, events, freq_hz, duration: None, backend: None };
        // The first report means that the recording runs.
        rabbitscope_probe::record(&options, span.over(), &mut |_| drop(unready.take()))
    };
    let choice = choose_backend(pid, None)?;
    if choice.backend == Backend::PerfEvents {
        let reason = choice.because.unwrap_or_default();
        let missing_waits = missing_rights(Source::OffCpuProfile, &reason);
        return Ok((record(&[Event::Cpu])?, missing_waits));
    }
    match record(&[Event::Cpu, Event::OffCpu]) {
        Err(error @ ProbeError::Kernel { .. }) => {
            Ok((record(&[Event::Cpu])?, refused(Source::OffCpuProfile, &error)))
        }
        recorded => Ok((recorded?, Unread::new(Source::OffCpuProfile))),
    }
}
