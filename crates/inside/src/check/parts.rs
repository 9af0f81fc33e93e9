//! The parts of a case that come from inside a node.

use rabbitscope_diagnosis::{
    Broker, Case, Clients, Flow, Part, Processes, Queues, Source, Unread, Vm,
};
use rabbitscope_erlang::Term;

use super::{broker, clients, fields::Fields, flow, processes, queues, vm};

/// The parts of a case that come from inside a node.
#[derive(Clone, Debug)]
pub struct NodeParts {
    /// Figures and settings of the whole broker.
    pub broker: Part<Broker>,
    /// Schedulers and distribution of the Erlang VM.
    pub vm: Part<Vm>,
    /// Erlang processes.
    pub processes: Part<Processes>,
    /// Queues.
    pub queues: Part<Queues>,
    /// Connections, channels and their consumers.
    pub clients: Part<Clients>,
    /// Flow control.
    pub flow: Part<Flow>,
}

impl NodeParts {
    /// Reads the answer of the agent. `None` if it is not an answer to such a request.
    pub(super) fn from_term(answer: &Term, node: &str) -> Option<Self> {
        let answer = Fields(answer);
        let elapsed_ms = answer.number("elapsed_ms")?;
        let seconds = elapsed_ms.max(1) as f64 / 1e3;
        Some(Self {
            broker: broker::broker(answer, node).ok_or_else(unknown_form),
            vm: vm::vm(answer, seconds).ok_or_else(unknown_form),
            processes: processes::processes(answer).ok_or_else(unknown_form),
            queues: queues::queues(answer, seconds).ok_or_else(unknown_form),
            clients: clients::clients(answer, seconds).ok_or_else(unknown_form),
            flow: flow::flow(answer, elapsed_ms).ok_or_else(unknown_form),
        })
    }

    /// Creates parts that all lack for the same reason.
    pub fn unread(reason: &Unread) -> Self {
        Self {
            broker: Err(reason.clone()),
            vm: Err(reason.clone()),
            processes: Err(reason.clone()),
            queues: Err(reason.clone()),
            clients: Err(reason.clone()),
            flow: Err(reason.clone()),
        }
    }

    /// Moves the parts into a case.
    pub fn fill(self, case: &mut Case) {
        case.broker = self.broker;
        case.vm = self.vm;
        case.processes = self.processes;
        case.queues = self.queues;
        case.clients = self.clients;
        case.flow = self.flow;
    }
}

/// The reason for a part that could not be read on the node, or has another form.
fn unknown_form() -> Unread {
    Unread {
        source: Source::Node,
        reason: "this release of RabbitMQ keeps these figures in a form that is unknown".to_owned(),
        remedy: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_the_node_does_not_have_are_unread_and_take_no_other_along() {
        let unknown = || Term::atom("unknown");
        let processes = Term::map([("elapsed_ms", 1000.into()), ("rows", Term::list([]))]);
        let answer = Term::map([
            ("elapsed_ms", 1000.into()),
            ("flow", unknown()),
            ("queues", unknown()),
            ("processes", processes),
        ]);
        let parts = NodeParts::from_term(&answer, "a@b").unwrap();
        assert!(parts.processes.is_ok(), "{parts:?}");
        let reasons = [parts.queues.err(), parts.flow.err(), parts.clients.err()];
        assert!(reasons.iter().all(Option::is_some), "{reasons:?}");
        assert!(NodeParts::from_term(&Term::Integer(1), "a@b").is_none());
    }
}
