//! Chooses the backend that records a node: the best permitted one, with the reason against a better one.

use std::fmt;

use rabbitscope_profiles::Event;

use super::{events::rows_of, perf_events::permitted_clock};
use crate::{error::ProbeError, permission};

/// The kernel interface that takes the samples, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Programs in the kernel: every event, whole stacks of any node.
    Ebpf,
    /// `perf_event_open(2)`: CPU time only. Erlang stacks below C functions need a node with frame pointers.
    PerfEvents,
}

impl Backend {
    /// All backends, best first.
    pub const ALL: [Self; 2] = [Self::Ebpf, Self::PerfEvents];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ebpf => "ebpf",
            Self::PerfEvents => "perf-events",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The backend that records a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendChoice {
    /// The backend.
    pub backend: Backend,
    /// The reason against a better backend; `None` for the best.
    pub because: Option<String>,
}

impl BackendChoice {
    /// The note for the profile.
    pub(crate) fn note(&self) -> Option<String> {
        let because = self.because.as_ref()?;
        Some(format!("recorded by {}, not by eBPF: {because}", self.backend))
    }

    /// Refuses events that the backend cannot record.
    pub(crate) fn require(&self, events: &[Event]) -> Result<(), ProbeError> {
        let other = rows_of(events).find(|row| !row.has_perf_events);
        match (self.backend, other) {
            (Backend::PerfEvents, Some(row)) => Err(ProbeError::EventNeedsEbpf {
                event: row.event.name(),
                backend: self.backend.name(),
                because: self.because.clone().unwrap_or_default(),
            }),
            _ => Ok(()),
        }
    }
}

/// Chooses the backend for the node `pid`: `requested`, or the best permitted one. Fails if the requested one, or
/// every one, is not permitted.
pub fn choose_backend(pid: u32, requested: Option<Backend>) -> Result<BackendChoice, ProbeError> {
    let ebpf = permission::require_sampling();
    let because = match (requested, ebpf) {
        (None | Some(Backend::Ebpf), Ok(())) => {
            return Ok(BackendChoice { backend: Backend::Ebpf, because: None });
        }
        (Some(Backend::Ebpf), Err(missing)) => return Err(missing),
        (Some(Backend::PerfEvents), _) => "--tier asks for perf-events".to_owned(),
        (None, Err(missing)) => return instead_of_ebpf(pid, missing),
    };
    check_perf_events(pid)?;
    Ok(BackendChoice { backend: Backend::PerfEvents, because: Some(because) })
}

fn instead_of_ebpf(pid: u32, missing: ProbeError) -> Result<BackendChoice, ProbeError> {
    let because = match &missing {
        ProbeError::MissingCapabilities { missing, .. } => {
            format!("{} missing", missing.join(", "))
        }
        other => other.to_string(),
    };
    match check_perf_events(pid) {
        Ok(()) => Ok(BackendChoice { backend: Backend::PerfEvents, because: Some(because) }),
        // Those capabilities would permit everything.
        Err(_) => Err(missing),
    }
}

fn check_perf_events(pid: u32) -> Result<(), ProbeError> {
    let clock = permitted_clock(pid);
    clock.map(drop).map_err(|error| ProbeError::PerfEvents { pid, detail: error.to_string() })
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::Event;

    use super::{Backend, BackendChoice};

    #[test]
    fn perf_events_have_cpu_time_only() {
        let choice = BackendChoice {
            backend: Backend::PerfEvents,
            because: Some("CAP_BPF missing".to_owned()),
        };
        assert!(choice.require(&[Event::Cpu]).is_ok());
        let refused = choice.require(&[Event::Cpu, Event::OffCpu]).unwrap_err().to_string();
        let expected =
            "perf-events cannot record off-cpu, only cpu. eBPF is not used: CAP_BPF missing;";
        assert!(refused.starts_with(expected), "{refused}");
        assert!(choice.note().unwrap().contains("CAP_BPF missing"));
    }

    #[test]
    fn ebpf_has_every_event_and_needs_no_note() {
        let choice = BackendChoice { backend: Backend::Ebpf, because: None };
        assert!(choice.require(&Event::RECORDED).is_ok());
        assert_eq!(choice.note(), None);
    }
}
