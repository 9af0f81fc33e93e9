//! Flow control, from the agent's answer.

use rabbitscope_diagnosis::{Blocker, Flow, FlowProcess};
use rabbitscope_erlang::Term;

use super::fields::Fields;

/// Reads the looks at the credit of processes.
pub(super) fn flow(answer: Fields<'_>, elapsed_ms: u64) -> Option<Flow> {
    let flow = Fields(answer.term("flow")?);
    Some(Flow {
        elapsed_ms,
        looks: flow.number("looks")?,
        missed_looks: flow.number("missed")?,
        candidates: flow.number("candidates")?,
        passes: flow.number("passes")?,
        blocked: flow.number("blocked")?,
        processes: flow.rows("rows").filter_map(process).collect(),
    })
}

fn process(row: Fields<'_>) -> Option<FlowProcess> {
    Some(FlowProcess {
        pid: row.term("pid")?.as_pid()?.to_string(),
        role: row.word("role"),
        name: row.text("name"),
        connection: row.text("connection"),
        client: row.text("client"),
        user: row.text("user"),
        vhost: row.text("vhost"),
        looks: row.number("looks")?,
        blocked: row.number("blocked")?,
        busy: row.number("busy")?,
        mailbox: row.number("mailbox")?,
        blocked_by: row.list("by").iter().map(blocked_by).collect::<Option<_>>()?,
    })
}

fn blocked_by(term: &Term) -> Option<(Blocker, u64)> {
    let [blocker, looks] = term.as_tuple()? else { return None };
    let blocker = match (blocker.as_pid(), blocker.as_tuple()) {
        (Some(pid), _) => Blocker::Process(pid.to_string()),
        (_, Some([_, vhost, name])) => Blocker::Queue(vhost.to_text()?, name.to_text()?),
        (_, Some([_, other])) => Blocker::Other(other.to_text()?),
        _ => return None,
    };
    Some((blocker, looks.as_u64()?))
}

#[cfg(test)]
mod tests {
    use rabbitscope_erlang::term::{Atom, Pid};

    use super::*;

    #[test]
    fn blockers_are_processes_queues_or_others() {
        fn check(blocker: Term, expected: Blocker) {
            assert_eq!(blocked_by(&Term::tuple([blocker, 7.into()])), Some((expected, 7)));
        }
        let pid = Pid { node: Atom::new("a@b"), id: 5, serial: 0, creation: 1 };
        check(pid.into(), Blocker::Process("<0.5.0>".to_owned()));
        let queue = Term::tuple([Term::atom("queue"), Term::text("/"), Term::text("orders")]);
        check(queue, Blocker::Queue("/".to_owned(), "orders".to_owned()));
        let other = Term::tuple([Term::atom("other"), Term::text("<9.1.0> on c@d")]);
        check(other, Blocker::Other("<9.1.0> on c@d".to_owned()));
        assert_eq!(blocked_by(&Term::atom("none")), None);
    }
}
