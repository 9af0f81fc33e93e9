//! By which of the kernel's interfaces a node is recorded: the best that this machine lets this process
//! have, and why not a better one.

use std::fmt;

use rabbitscope_profiles::Event;

use crate::{cpu::permitted_clock, error::ProbeError, permission};

/// An interface of the kernel, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// A program in the kernel: every event, whole stacks of any node.
    Ebpf,
    /// Samples out of rings: CPU time; Erlang stacks below C functions only of nodes with frame pointers.
    PerfEvents,
}

impl Tier {
    /// All of them, by their words on the command line.
    pub const ALL: [Self; 2] = [Self::Ebpf, Self::PerfEvents];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ebpf => "ebpf",
            Self::PerfEvents => "perf-events",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a node is recorded by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The interface.
    pub tier: Tier,
    /// Why not a better one; absent of the best.
    pub because: Option<String>,
}

impl Choice {
    /// For the profile.
    pub(crate) fn note(&self) -> Option<String> {
        let because = self.because.as_ref()?;
        Some(format!("recorded by {}, not by eBPF: {because}", self.tier))
    }

    /// Refuses events that the tier cannot have.
    pub(crate) fn require(&self, events: &[Event]) -> Result<(), ProbeError> {
        let other = events.iter().find(|&&event| event != Event::Cpu);
        match (self.tier, other) {
            (Tier::PerfEvents, Some(event)) => Err(ProbeError::EventNeedsEbpf {
                event: event.name(),
                tier: self.tier.name(),
                because: self.because.clone().unwrap_or_default(),
            }),
            _ => Ok(()),
        }
    }
}

/// By what the node `pid` is recorded when `asked` says nothing else. Fails when nothing is permitted, or not
/// what was asked for.
pub fn choose_tier(pid: u32, asked: Option<Tier>) -> Result<Choice, ProbeError> {
    let ebpf = permission::require_sampling();
    let because = match (asked, ebpf) {
        (None | Some(Tier::Ebpf), Ok(())) => return Ok(Choice { tier: Tier::Ebpf, because: None }),
        (Some(Tier::Ebpf), Err(missing)) => return Err(missing),
        (Some(Tier::PerfEvents), _) => "--tier asks for perf-events".to_owned(),
        (None, Err(missing)) => return instead_of_ebpf(pid, missing),
    };
    check_perf_events(pid)?;
    Ok(Choice { tier: Tier::PerfEvents, because: Some(because) })
}

fn instead_of_ebpf(pid: u32, missing: ProbeError) -> Result<Choice, ProbeError> {
    let because = match &missing {
        ProbeError::MissingCapabilities { missing, .. } => {
            format!("{} missing", missing.join(", "))
        }
        other => other.to_string(),
    };
    match check_perf_events(pid) {
        Ok(()) => Ok(Choice { tier: Tier::PerfEvents, because: Some(because) }),
        // With those everything is permitted.
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

    use super::{Choice, Tier};

    #[test]
    fn perf_events_have_cpu_time_only() {
        let choice = Choice { tier: Tier::PerfEvents, because: Some("CAP_BPF missing".to_owned()) };
        assert!(choice.require(&[Event::Cpu]).is_ok());
        let refused = choice.require(&[Event::Cpu, Event::OffCpu]).unwrap_err().to_string();
        let expected = "off-cpu cannot be recorded by perf-events, which records cpu only. eBPF is not \
                        used: CAP_BPF missing;";
        assert!(refused.starts_with(expected), "{refused}");
        assert!(choice.note().unwrap().contains("CAP_BPF missing"));
    }

    #[test]
    fn ebpf_has_every_event_and_needs_no_note() {
        let choice = Choice { tier: Tier::Ebpf, because: None };
        assert!(choice.require(&Event::RECORDED).is_ok());
        assert_eq!(choice.note(), None);
    }
}
