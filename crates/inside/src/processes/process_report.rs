//! One process of a node, and the processes that wait for an answer from another process.

use std::time::Duration;

use rabbitscope_erlang::{Compiled, Connection, ErlangError, Loaded, ModuleSource, Term};
use serde::Serialize;

use crate::asking::ask;

/// Timeout for a saturated node. Each question to the process itself has two seconds on the node.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Heap limit of a request.
const MAX_HEAP_BYTES: u32 = 64 << 20;

/// Reads single processes of a node.
#[derive(Debug)]
pub struct ProcessReader<'a> {
    agent: Loaded<'a>,
}

/// A process. Its messages and its dictionary are reported only by kind and key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessReport {
    pub(super) pid: String,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) status: String,
    pub(super) reductions: u64,
    pub(super) memory_bytes: u64,
    pub(super) heap_bytes: u64,
    pub(super) stack_bytes: u64,
    /// Number of references to large binaries, and the bytes of these binaries, each counted once.
    pub(super) binaries: Option<(u64, u64)>,
    pub(super) priority: String,
    pub(super) traps_exits: bool,
    pub(super) mailbox: u64,
    /// Messages per form; absent if the mailbox is too long or too large for a copy.
    pub(super) messages: Option<Vec<(String, u64)>>,
    pub(super) links: Known,
    pub(super) monitors: Known,
    pub(super) monitored_by: Known,
    /// The processes that it waits for, the nearest first.
    pub(super) waits_for: Vec<Awaited>,
    /// Forms of the keys, without values.
    pub(super) dictionary_keys: Option<Vec<String>>,
    /// Stack, the innermost function first.
    pub(super) stack: Vec<String>,
}

/// Number of processes and ports, and the first of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Known {
    pub(super) count: u64,
    pub(super) first: Vec<String>,
}

/// The subject of a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Awaited {
    /// This process.
    Process(String),
    /// One of these processes; the VM does not reveal which.
    OneOf(Vec<String>),
    /// A process that waits for this one: none of the circle can continue by itself.
    Circle,
}

/// Processes that wait for others, the longest chains first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WaitingReport {
    /// The Erlang name of the node.
    pub node: String,
    /// Number of all waiting processes.
    pub(super) waiting: u64,
    pub(super) processes: Vec<WaitingProcess>,
}

/// A waiting process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct WaitingProcess {
    pub(super) pid: String,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) waits_for: Vec<Awaited>,
}

impl<'a> ProcessReader<'a> {
    /// Loads the agent into the node.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MAX_HEAP_BYTES.into())]);
        Ok(Self {
            agent: Loaded::agent(connection, ModuleSource::PROCESS, Compiled::Quickly, options)?,
        })
    }

    /// Reads the process with this pid or registered name.
    pub fn process(&mut self, who: &str) -> Result<ProcessReport, ErlangError> {
        let answer =
            ask(&mut self.agent, "process", Term::map([("who", Term::text(who))]), TIMEOUT)?;
        ProcessReport::from_term(&answer)
            .ok_or_else(|| ErlangError::unexpected("a process", &answer))
    }

    /// Reads the first `rows` processes that wait for others.
    pub fn waiting(&mut self, rows: u32) -> Result<WaitingReport, ErlangError> {
        let answer = ask(&mut self.agent, "waits", Term::map([("limit", rows.into())]), TIMEOUT)?;
        let node = self.agent.connection().node();
        WaitingReport::from_term(&answer, node)
            .ok_or_else(|| ErlangError::unexpected("waits", &answer))
    }

    /// Removes the agent and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }
}

impl ProcessReport {
    fn from_term(answer: &Term) -> Option<Self> {
        let number = |key: &str| answer.get(key)?.as_u64();
        let atom = |key: &str| answer.get(key)?.as_atom().map(str::to_owned);
        let known = |key: &str| {
            Some(Known { count: number(&format!("{key}_count"))?, first: texts(answer.get(key)?)? })
        };
        Some(Self {
            pid: answer.get("pid")?.as_pid()?.to_string(),
            name: answer.get("name")?.to_text()?,
            role: atom("role")?,
            status: atom("status")?,
            reductions: number("reductions")?,
            memory_bytes: number("memory")?,
            heap_bytes: number("heap")?,
            stack_bytes: number("stack_bytes")?,
            binaries: answer.get("binaries").and_then(binaries),
            priority: atom("priority")?,
            traps_exits: answer.get("trap_exit")?.is_atom("true"),
            mailbox: number("mailbox")?,
            messages: answer
                .get("messages")?
                .as_list()
                .map(|kinds| kinds.iter().filter_map(kind).collect()),
            links: known("links")?,
            monitors: known("monitors")?,
            monitored_by: known("monitored_by")?,
            waits_for: chain(answer.get("waits")?)?,
            dictionary_keys: texts(answer.get("dictionary")?),
            stack: answer.get("stack")?.as_list()?.iter().map(frame).collect::<Option<_>>()?,
        })
    }
}

impl WaitingReport {
    fn from_term(answer: &Term, node: &str) -> Option<Self> {
        let process = |row: &Term| match row.as_tuple()? {
            [pid, name, role, waits] => Some(WaitingProcess {
                pid: pid.as_pid()?.to_string(),
                name: name.to_text()?,
                role: role.as_atom()?.to_owned(),
                waits_for: chain(waits)?,
            }),
            _ => None,
        };
        let processes = answer.get("rows")?.as_list()?.iter().map(process);
        Some(Self {
            node: node.to_owned(),
            waiting: answer.get("count")?.as_u64()?,
            processes: processes.collect::<Option<_>>()?,
        })
    }
}

fn texts(term: &Term) -> Option<Vec<String>> {
    term.as_list()?.iter().map(Term::to_text).collect()
}

fn binaries(term: &Term) -> Option<(u64, u64)> {
    let [references, bytes] = term.as_tuple()? else { return None };
    Some((references.as_u64()?, bytes.as_u64()?))
}

fn kind(term: &Term) -> Option<(String, u64)> {
    let [kind, count] = term.as_tuple()? else { return None };
    Some((kind.to_text()?, count.as_u64()?))
}

fn chain(term: &Term) -> Option<Vec<Awaited>> {
    let awaited = |term: &Term| {
        if term.is_atom("circle") {
            return Some(Awaited::Circle);
        }
        let mut names = texts(term)?;
        let is_one = names.len() == 1;
        Some(if is_one { Awaited::Process(names.remove(0)) } else { Awaited::OneOf(names) })
    };
    term.as_list()?.iter().map(awaited).collect()
}

fn frame(term: &Term) -> Option<String> {
    let [module, function, arity, line] = term.as_tuple()? else { return None };
    let line = line.as_u64().filter(|line| *line > 0);
    let line = line.map_or_else(String::new, |line| format!(" line {line}"));
    let (module, function) = (module.as_atom()?, function.as_atom()?);
    Some(format!("{module}:{function}/{}{line}", arity.as_u64()?))
}
