//! Call trees: the stacks of selected processes with the time of each function, merged on the node.

use std::time::Duration;

use super::{
    answer::{Fields, function, rows},
    calls::millis,
    session::{ProbeSession, Watch},
    target::{FunctionName, FunctionPattern, ProcessKind, ProcessName, Who},
};
use crate::{ErlangError, Term, term::Pid};

const ASKED: &str = "calltree";

/// The condition under which a process is traced.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// While it is inside this function.
    Call(FunctionPattern),
    /// At all times.
    Process(Who),
}

/// A request to record a call tree, with its limits.
#[derive(Clone, Debug)]
pub struct TreeRequest {
    /// The condition under which a process is traced.
    pub trigger: Trigger,
    /// Only processes in this role.
    pub role: Option<ProcessKind>,
    /// Follow `gen_server` calls into the process that they wait for.
    pub follow: bool,
    /// Limit of the function's calls.
    pub max_calls: u32,
    /// Limit of the duration.
    pub duration: Duration,
}

/// The subject of a tree's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKey {
    /// A function that the parent called.
    Function(FunctionName),
    /// A process: at the root, or where another process waits for it.
    Process(ProcessKind, ProcessName),
    /// Scheduled out in this function; `None` for an unknown function.
    Off(Option<FunctionName>),
}

/// A node. Times exclude the nodes below it.
#[derive(Clone, Debug)]
pub struct TreeNode {
    /// The node's number, above 0.
    pub id: u64,
    /// The parent's number; 0 for a root.
    pub parent: u64,
    /// The subject.
    pub key: NodeKey,
    /// Number of calls.
    pub calls: u64,
    /// Time running.
    pub run: Duration,
    /// Time waiting for a message.
    pub wait: Duration,
    /// Time runnable, but not scheduled.
    pub runnable: Duration,
    /// Time of garbage collections.
    pub gc: Duration,
}

/// The longest single call.
#[derive(Clone, Debug)]
pub struct Slowest {
    /// The process.
    pub pid: Option<Pid>,
    /// The duration.
    pub took: Duration,
    /// The nodes of the tree that belong to the call, with its times. Parents may be missing.
    pub nodes: Vec<TreeNode>,
}

/// The end of a recording, and the share of the time that it contains.
#[derive(Clone, Debug, Default)]
pub struct TreeResult {
    /// The budget that ended it, or `duration`, or `cancelled`.
    pub stopped_by: String,
    /// Calls of the function that were recorded from beginning to end.
    pub calls: u64,
    /// Calls that were recorded in part.
    pub calls_cut: u64,
    /// Calls by all processes of the node during the recording.
    pub calls_on_node: u64,
    /// Number of used events.
    pub events: u64,
    /// Number of events that came after the end.
    pub events_dropped: u64,
    /// Number of recorded intervals, with pauses between them.
    pub windows: u64,
    /// Length of the recording.
    pub elapsed: Duration,
    /// Time of the processes that the tree contains.
    pub seen: Duration,
    /// Time of the processes that passed in pauses.
    pub unseen: Duration,
    /// Calls that found no room in the tree. Their time counts for their callers.
    pub unplaced: u64,
    /// Calls to other processes that were not followed, because those were followed already.
    pub not_followed: u64,
    /// True if garbage collections were recorded.
    pub gc_traced: bool,
    /// Number of processes that were traced at all times; 0 if a function was the trigger.
    pub processes: u64,
    /// Number of processes that the request named. The busiest of them were traced.
    pub candidates: u64,
    /// Rows of the tree with an unknown form, which are missing.
    pub not_understood: u64,
}

/// The result of a recording.
#[derive(Clone, Debug, Default)]
pub struct CallTree {
    /// Nodes, parents before their children.
    pub nodes: Vec<TreeNode>,
    /// The longest call.
    pub slowest: Option<Slowest>,
    /// The end of the recording.
    pub result: TreeResult,
}

impl ProbeSession<'_> {
    /// Records a call tree.
    pub fn tree(
        &mut self,
        request: &TreeRequest,
        watch: &mut Watch<'_>,
    ) -> Result<CallTree, ErlangError> {
        let mut nodes = Vec::new();
        let mut slow_nodes = Vec::new();
        let mut not_understood = 0;
        let arguments = arguments_of(request);
        let result = self.ask(ASKED, arguments, request.duration, watch, &mut |event| {
            let (what, rows) = rows(ASKED, &event)?;
            let into = if what == "slowest" { &mut slow_nodes } else { &mut nodes };
            not_understood += take(rows, into);
            Ok(())
        })?;
        let slowest = result.get("slowest").and_then(|slowest| {
            Some(Slowest {
                pid: slowest.get("pid")?.as_pid().cloned(),
                took: Duration::from_nanos(slowest.get("took_ns")?.as_u64()?),
                nodes: slow_nodes,
            })
        });
        let result = TreeResult { not_understood, ..result_of(&Fields::new(ASKED, &result))? };
        Ok(CallTree { nodes, slowest, result })
    }
}

fn arguments_of(request: &TreeRequest) -> Vec<(&'static str, Term)> {
    let mut pairs = match &request.trigger {
        Trigger::Call(function) => function.arguments(),
        Trigger::Process(who) => vec![("who", who.to_term())],
    };
    pairs.extend([
        ("follow", Term::from(request.follow)),
        ("max_calls", Term::from(request.max_calls)),
        ("duration_ms", millis(request.duration)),
    ]);
    pairs.extend(request.role.as_ref().map(|role| ("role", Term::text(role))));
    pairs
}

fn result_of(fields: &Fields<'_>) -> Result<TreeResult, ErlangError> {
    let time = |key| fields.number(key).map(Duration::from_nanos);
    Ok(TreeResult {
        stopped_by: fields.word("stopped_by")?,
        calls: fields.number("calls")?,
        calls_cut: fields.number("calls_cut")?,
        calls_on_node: fields.number("calls_on_node")?,
        events: fields.number("events")?,
        events_dropped: fields.number("events_dropped")?,
        windows: fields.number("windows")?,
        elapsed: time("elapsed_ns")?,
        seen: time("seen_ns")?,
        unseen: time("unseen_ns")?,
        unplaced: fields.number("unplaced")?,
        not_followed: fields.number("not_followed")?,
        gc_traced: fields.flag("gc_traced")?,
        processes: fields.number("processes")?,
        candidates: fields.number("candidates")?,
        not_understood: 0,
    })
}

/// Appends the nodes of rows. Returns the number of rows with an unknown form, which are left out.
fn take(rows: &[Term], into: &mut Vec<TreeNode>) -> u64 {
    let before = into.len();
    into.extend(rows.iter().filter_map(node));
    (rows.len() + before - into.len()) as u64
}

fn node(row: &Term) -> Option<TreeNode> {
    let [id, parent, key, calls, run, wait, runnable, gc] = row.as_tuple()? else { return None };
    let time = |term: &Term| term.as_u64().map(Duration::from_nanos);
    Some(TreeNode {
        id: id.as_u64()?,
        parent: parent.as_u64()?,
        key: node_key(key)?,
        calls: calls.as_u64()?,
        run: time(run)?,
        wait: time(wait)?,
        runnable: time(runnable)?,
        gc: time(gc)?,
    })
}

fn node_key(key: &Term) -> Option<NodeKey> {
    if let Some([role, name]) = key.as_tagged("process") {
        return Some(NodeKey::Process(role.as_atom()?.to_owned(), name.to_text()?));
    }
    if let Some([place]) = key.as_tagged("off") {
        return Some(NodeKey::Off(function(place)));
    }
    function(key).map(NodeKey::Function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &Term, expected: Option<&NodeKey>) {
        assert_eq!(node_key(key).as_ref(), expected);
    }

    #[test]
    fn a_row_that_is_not_understood_costs_no_other() {
        let row = |id: i64, key: Term| {
            let numbers = || [Term::from(1), 2.into(), 3.into(), 4.into(), 5.into()];
            Term::tuple([vec![id.into(), 0.into(), key], numbers().to_vec()].concat())
        };
        let map = || Term::tuple([Term::atom("lists"), Term::atom("map"), 2.into()]);
        let arguments = Term::tuple([Term::atom("lists"), Term::atom("map"), Term::list([])]);
        let rows = [row(1, map()), row(2, arguments), Term::atom("else"), row(4, map())];
        let mut nodes = Vec::new();
        assert_eq!(take(&rows, &mut nodes), 2);
        assert_eq!(nodes.iter().map(|node| node.id).collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn keys_of_nodes() {
        let map = Term::tuple([Term::atom("lists"), Term::atom("map"), 2.into()]);
        let name = FunctionName { module: "lists".to_owned(), name: "map".to_owned(), arity: 2 };
        check(&map, Some(&NodeKey::Function(name.clone())));
        check(&Term::tuple([Term::atom("off"), map]), Some(&NodeKey::Off(Some(name))));
        check(&Term::tuple([Term::atom("off"), 0.into()]), Some(&NodeKey::Off(None)));
        let process = Term::tuple([Term::atom("process"), Term::atom("queue"), Term::text("q")]);
        check(&process, Some(&NodeKey::Process("queue".to_owned(), "q".to_owned())));
        check(&Term::atom("what"), None);
    }
}
