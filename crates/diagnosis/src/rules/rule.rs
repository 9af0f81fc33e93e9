//! A rule: its description, the parts that it needs, and its verdict.

use super::draft::Draft;
use crate::case::{Case, Unread, Vm};

/// A rule.
pub(crate) struct Rule {
    /// Stable name.
    pub(crate) name: &'static str,
    /// Subject that is healthy if the rule finds nothing.
    pub(crate) title: &'static str,
    /// Meaning of a finding.
    pub(crate) meaning: &'static str,
    /// Parts of the case without which the rule does not judge.
    pub(crate) needs: &'static [Need],
    /// The least evidence.
    pub(crate) minimum: Minimum,
    /// Threshold and severity, in words.
    pub(crate) threshold: &'static str,
    /// The change, in words.
    pub(crate) change: &'static str,
    /// Origin of the threshold or the change.
    pub(crate) source: &'static str,
    /// Finds the problem in a case that has the parts for long enough.
    pub(crate) find: fn(&Case) -> Judged,
}

/// The least evidence of a rule.
pub(crate) struct Minimum {
    /// Observed time of every needed part.
    pub(crate) seconds: u32,
    /// Further conditions, in words. The rule's function tests them.
    pub(crate) counts: &'static str,
}

/// Findings of a rule, or the reason why it does not judge.
pub(crate) type Judged = Result<Vec<Draft>, NotJudged>;

/// The reason why a rule does not judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotJudged(String);

/// The verdict of a rule.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The rule could not judge, for this reason.
    NotJudged(String),
    /// The rule judged and found nothing.
    Healthy,
    /// Problems.
    Found(Vec<Draft>),
}

/// A part of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Broker,
    /// Counters and settings of the VM.
    Vm,
    /// Looks at its run queues and distribution.
    Looks,
    Queues,
    Clients,
    Flow,
    Cpu,
    Waits,
    Host,
}

impl NotJudged {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<&Unread> for NotJudged {
    fn from(unread: &Unread) -> Self {
        Self(unread_words(unread))
    }
}

impl Rule {
    /// Judges a case.
    pub(crate) fn judge(&self, case: &Case) -> Verdict {
        for need in self.needs {
            if let Some(unread) = need.unread(case) {
                return Verdict::NotJudged(unread_words(unread));
            }
            let seconds = need.seconds(case);
            // A time that is not a number is too short as well.
            let is_enough = seconds >= f64::from(self.minimum.seconds);
            if !is_enough {
                return Verdict::NotJudged(self.shortfall(*need, seconds));
            }
        }
        match (self.find)(case) {
            Err(NotJudged(reason)) => Verdict::NotJudged(reason),
            Ok(found) if found.is_empty() => Verdict::Healthy,
            Ok(found) => Verdict::Found(found),
        }
    }

    fn shortfall(&self, need: Need, seconds: f64) -> String {
        let least = self.minimum.seconds;
        format!("it takes {least} s of {}; there were {seconds:.1} s", need.name())
    }
}

impl Need {
    /// Returns the name in sentences.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Broker => "figures of the broker",
            Self::Vm => "figures of the VM",
            Self::Looks => "looks at the schedulers",
            Self::Queues => "figures of queues",
            Self::Clients => "figures of clients",
            Self::Flow => "looks at flow control",
            Self::Cpu => "CPU samples",
            Self::Waits => "off-CPU times",
            Self::Host => "figures of the machine",
        }
    }

    fn unread(self, case: &Case) -> Option<&Unread> {
        match self {
            Self::Broker => case.broker.as_ref().err(),
            Self::Vm | Self::Looks => case.vm.as_ref().err(),
            Self::Queues => case.queues.as_ref().err(),
            Self::Clients => case.clients.as_ref().err(),
            Self::Flow => case.flow.as_ref().err(),
            Self::Cpu => case.cpu.as_ref().err(),
            Self::Waits => case.waits.as_ref().err(),
            Self::Host => case.host.as_ref().err(),
        }
    }

    /// Returns the observed time in seconds.
    fn seconds(self, case: &Case) -> f64 {
        match self {
            Self::Broker | Self::Vm | Self::Queues | Self::Clients => {
                case.subject.duration.as_secs_f64()
            }
            Self::Looks => case.vm.as_ref().map_or(0.0, look_seconds),
            Self::Flow => case.flow.as_ref().map_or(0.0, |flow| flow.elapsed_ms as f64 / 1e3),
            Self::Cpu => case.cpu.as_ref().map_or(0.0, |cpu| cpu.seconds),
            Self::Waits => case.waits.as_ref().map_or(0.0, |waits| waits.seconds),
            Self::Host => case.host.as_ref().map_or(0.0, |host| host.seconds),
        }
    }
}

/// Returns the time of the looks at the schedulers, of which a node without enough CPU time has few.
pub(crate) fn look_seconds(vm: &Vm) -> f64 {
    /// Looks per second.
    const LOOKS: f64 = 20.0;
    vm.looks as f64 / LOOKS
}

/// Returns the reason of a missing part, with its remedy.
pub(crate) fn unread_words(unread: &Unread) -> String {
    let source = unread.source.name();
    match unread.remedy.as_str() {
        "" => format!("{source}: {}", unread.reason),
        remedy => format!("{source}: {}; {remedy}", unread.reason),
    }
}
