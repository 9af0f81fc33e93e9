//! `rabbitscope profile --explain`: the recording method on this machine, and the missing conditions.

use rabbitscope_erlang::Connection;
use rabbitscope_probe::{Backend, BackendChoice, Fact, choose_backend, explain};
use rabbitscope_terminal::output;
use serde::Serialize;

use super::{
    facts::{self, FactRecord},
    inside::NodeArguments,
};

use crate::exit::Exit;

/// The method by which a node would be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RecordingMethod {
    /// Through an interface of the kernel.
    Outside(BackendChoice),
    /// Through the node itself, Erlang code only.
    FromInside,
    /// No method is available.
    Nothing,
}

impl RecordingMethod {
    /// Returns the best available method. `choice` is the kernel interface that this process may use for the node.
    fn best(facts: &[Fact], choice: Option<BackendChoice>, has_cookie: bool) -> Self {
        let node_is_known = facts.iter().any(|fact| fact.what == "node" && fact.is_met);
        let all_needed = facts.iter().all(|fact| fact.is_met || !fact.is_needed);
        match (choice, has_cookie) {
            (Some(choice), _) if node_is_known && all_needed => Self::Outside(choice),
            (_, true) => Self::FromInside,
            (_, false) => Self::Nothing,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Outside(choice) => choice.backend.name(),
            Self::FromInside => "from-inside",
            Self::Nothing => "nothing",
        }
    }

    /// Returns the exit code that a recording would have. `refusal` is the reason why there would be none.
    fn exit(&self, refusal: Option<&anyhow::Error>) -> Exit {
        match self {
            Self::Outside(_) | Self::FromInside => Exit::Done,
            Self::Nothing => refusal.map_or(Exit::Failed, Exit::from_error),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Outside(BackendChoice { backend: Backend::Ebpf, .. }) => {
                "would record by eBPF: Erlang, C and kernel functions, every event".into()
            }
            Self::Outside(BackendChoice { backend: Backend::PerfEvents, because }) => format!(
                "would record by perf events, not by eBPF ({}): cpu only; C functions, and their Erlang callers if \
                 these functions keep the node's frame pointers (+JPperf true)",
                because.as_deref().unwrap_or_default()
            ),
            Self::FromInside => {
                "would not record from outside; --from-inside works: the node itself samples cpu of Erlang functions \
                 only, and more coarsely"
                    .into()
            }
            Self::Nothing => "would record nothing: the lines above show the missing parts".into(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Explanation<'a> {
    facts: Vec<FactRecord<'a>>,
    tier: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'a str>,
}

/// Prints the available methods for the node with this pid and name, or the reason why there is no such node.
pub(super) fn execute(
    found: anyhow::Result<(u32, Option<String>)>,
    asked: Option<Backend>,
    node: &NodeArguments,
    json: bool,
) -> anyhow::Result<Exit> {
    let (pid, connected, no_node) = match found {
        Ok((pid, name)) => {
            let options = node.options_of(pid, name);
            let connected = options.and_then(|options| Ok(Connection::open(&options)?));
            (Some(pid), connected, None)
        }
        Err(error) => (None, node.connect(), Some(error)),
    };
    let connected = connected.map(drop);
    let mut facts = explain(pid);
    // Only a node has files to look for.
    let is_node = facts.iter().any(|fact| fact.what == "node" && fact.is_met);
    facts.extend(pid.filter(|_| is_node).map(rabbitscope_debuginfod::explained));
    let missing = |error: &anyhow::Error| Fact {
        what: "node",
        is_met: false,
        is_needed: true,
        found: error.to_string(),
    };
    facts.extend(no_node.as_ref().map(missing));
    let has_cookie = connected.is_ok();
    facts.push(Fact {
        what: "cookie",
        is_met: has_cookie,
        is_needed: false,
        found: connected.map_or_else(
            |error| format!("{error}; without an answer, processes have only pids"),
            |()| "the node answers: processes get their roles and names".to_owned(),
        ),
    });
    let choice = pid.map(|pid| choose_backend(pid, asked)).transpose();
    let (choice, refusal) = match choice {
        Ok(choice) => (choice, no_node),
        Err(refusal) => (None, Some(refusal.into())),
    };
    let way = RecordingMethod::best(&facts, choice, has_cookie);
    if json {
        let because = match &way {
            RecordingMethod::Outside(choice) => choice.because.as_deref(),
            RecordingMethod::FromInside | RecordingMethod::Nothing => None,
        };
        output::json(&Explanation { facts: FactRecord::all(&facts), tier: way.name(), because })?;
    } else {
        output::result(&format!("{}\n{}", facts::lines(&facts), way.sentence()));
    }
    Ok(way.exit(refusal.as_ref()))
}

#[cfg(test)]
mod tests {
    use rabbitscope_probe::{Backend, BackendChoice, Fact, ProbeError};

    use super::{Exit, RecordingMethod};

    fn fact(what: &'static str, is_met: bool) -> Fact {
        Fact { what, is_met, is_needed: true, found: String::new() }
    }

    #[track_caller]
    fn check(facts: &[Fact], tier: Option<Backend>, has_cookie: bool, expected: &str) {
        let choice = tier.map(|tier| BackendChoice { backend: tier, because: None });
        assert_eq!(RecordingMethod::best(facts, choice, has_cookie).name(), expected);
    }

    #[test]
    fn the_best_that_is_possible() {
        let node = [fact("node", true)];
        check(&node, Some(Backend::Ebpf), false, "ebpf");
        check(&node, Some(Backend::PerfEvents), true, "perf-events");
        check(&node, None, true, "from-inside");
        check(&[fact("node", false)], Some(Backend::Ebpf), true, "from-inside");
        let unknown = [fact("node", true), fact("layout of the VM", false)];
        check(&unknown, Some(Backend::Ebpf), true, "from-inside");
        check(&[], Some(Backend::Ebpf), false, "nothing");
    }

    #[test]
    fn what_would_record_nothing_ends_as_the_recording_would() {
        let refusal = ProbeError::NoNodes.into();
        assert_eq!(RecordingMethod::Nothing.exit(Some(&refusal)), Exit::Unreachable);
        assert_eq!(RecordingMethod::Nothing.exit(None), Exit::Failed);
        assert_eq!(RecordingMethod::FromInside.exit(Some(&refusal)), Exit::Done);
    }

    #[test]
    fn why_it_is_not_ebpf_is_said() {
        let because = Some("CAP_BPF missing".to_owned());
        let way = RecordingMethod::Outside(BackendChoice { backend: Backend::PerfEvents, because });
        assert!(way.sentence().contains("not by eBPF (CAP_BPF missing)"), "{}", way.sentence());
    }
}
