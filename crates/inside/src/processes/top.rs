//! The processes, queues, connections or channels that use most of a resource, selected on the node.
//!
//! However many there are, the node sends the first rows only.

use std::time::{Duration, Instant};

use rabbitscope_erlang::{Compiled, Connection, ErlangError, Loaded, ModuleSource, Reply, Term};
use serde::Serialize;

use super::{microstates::Microstates, rate_status::RateStatus};

/// What a request may take on top of its interval: two snapshots of a saturated node with many thousand
/// processes.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Heap limit of a request, which protects the node. The first snapshot is in a table outside the heap.
const MAX_HEAP_BYTES: u32 = 128 << 20;

/// What is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TopKind {
    /// Every process of the node
    #[default]
    Processes,
    /// Processes of queues
    Queues,
    /// Processes of connections
    Connections,
    /// Processes of channels
    Channels,
}

/// The column that rows are sorted by. Each heading of a table is a word for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TopSortKey {
    /// Reductions within the interval
    #[default]
    #[value(alias = "reductions/s")]
    Cpu,
    /// Memory of the process
    Memory,
    /// Messages that wait in the process's mailbox
    Mailbox,
    /// Large binaries that the process refers to
    Binaries,
    /// Bytes (connections) or messages (channels, queues) received within the interval
    #[value(alias = "in/s")]
    In,
    /// The same, sent
    #[value(alias = "out/s")]
    Out,
    /// Name, of those that use most CPU time; so are the others that are texts
    #[value(aliases = ["queue", "connection", "channel"])]
    Name,
    /// Process identifier
    Pid,
    /// Role of the process
    Role,
    /// Virtual host
    Vhost,
    /// The function that the process is in
    #[value(alias = "now in")]
    NowIn,
    /// Node
    Node,
}

/// The first rows, and the state of the node during the interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Top {
    /// The Erlang name of the node.
    pub node: String,
    pub(super) kind: TopKind,
    pub(super) sorted_by: TopSortKey,
    pub(super) interval_ms: u64,
    /// Number of processes, queues, connections or channels that were compared.
    pub(super) candidates: u64,
    /// Share of the interval in which the online schedulers worked, 0 to 1.
    pub(super) scheduler_use: Option<f64>,
    pub(super) schedulers_online: u64,
    /// Microstate accounting of the VM's threads; absent when it was on for a part of the interval only.
    pub(super) microstates: Option<Microstates>,
    pub(super) run_queue: u64,
    pub(super) memory_bytes: u64,
    /// Whether the counters of messages cover this interval.
    pub(super) rates_known: bool,
    #[serde(skip)]
    pub(super) rates: RateStatus,
    /// Interval at which the node writes its counters of messages.
    pub(super) statistics_ms: u64,
    /// The heaviest first.
    pub rows: Vec<TopRow>,
}

/// A process, or the queue, connection or channel that it serves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TopRow {
    /// As the node prints it.
    pub pid: String,
    /// Of the process, or of the queue, connection or channel.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vhost: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ready: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unacknowledged: Option<u64>,
    pub(super) reductions_per_second: f64,
    pub(super) memory_bytes: u64,
    pub(super) binary_bytes: Option<u64>,
    pub(super) mailbox: u64,
    pub(super) in_per_second: Option<f64>,
    pub(super) out_per_second: Option<f64>,
    pub(super) current_function: Option<String>,
}

impl TopRow {
    /// The figure that rows are sorted by, as a whole number.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are positive, and thousandths of them are enough for an order"
    )]
    pub(super) fn rank(&self, key: TopSortKey) -> Option<u64> {
        let rate = |rate: f64| (rate * 1e3) as u64;
        match key {
            TopSortKey::Cpu => Some(rate(self.reductions_per_second)),
            TopSortKey::Memory => Some(self.memory_bytes),
            TopSortKey::Mailbox => Some(self.mailbox),
            TopSortKey::Binaries => self.binary_bytes,
            TopSortKey::In => self.in_per_second.map(rate),
            TopSortKey::Out => self.out_per_second.map(rate),
            _ => self.rank(TopSortKey::Cpu),
        }
    }
}

/// Reads such tables from one node.
#[derive(Debug)]
pub struct TopReader<'a> {
    agent: Loaded<'a>,
}

impl<'a> TopReader<'a> {
    /// Loads the agent into the node.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MAX_HEAP_BYTES.into())]);
        Ok(Self {
            agent: Loaded::agent(connection, ModuleSource::TOP, Compiled::Quickly, options)?,
        })
    }

    /// The node that is read.
    pub(super) fn node(&self) -> &str {
        self.agent.connection().node()
    }

    /// Compares two snapshots with this interval between them, and returns the first `rows` rows.
    pub fn read(
        &mut self,
        kind: TopKind,
        key: TopSortKey,
        interval: Duration,
        rows: u32,
    ) -> Result<Top, ErlangError> {
        let interval_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
        let arguments = Term::map([
            ("what", atom_of(&kind)),
            ("sort", atom_of(&key.figure())),
            ("interval_ms", interval_ms.into()),
            ("limit", rows.into()),
        ]);
        let answer = self.ask(arguments, interval + ANSWER_TIMEOUT)?;
        let node = self.agent.connection().node();
        top_of(&answer, node, kind, key).ok_or_else(|| ErlangError::unexpected("top", &answer))
    }

    fn ask(&mut self, arguments: Term, within: Duration) -> Result<Term, ErlangError> {
        let node = self.agent.connection().node().to_owned();
        let mut request = self.agent.request("top", arguments)?;
        let deadline = Instant::now() + within;
        loop {
            match request.next(deadline.saturating_duration_since(Instant::now()))? {
                Some(Reply::Done(answer)) => return Ok(answer),
                Some(Reply::Event(_)) => {}
                None => {
                    return Err(ErlangError::NoAnswer { node, asked: "top".to_owned(), within });
                }
            }
        }
    }

    /// Removes the agent, and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }
}

/// The atom for a value of the command line.
fn atom_of(value: &impl clap::ValueEnum) -> Term {
    let value = value.to_possible_value().expect("no value is hidden");
    Term::atom(value.get_name())
}

fn top_of(answer: &Term, node: &str, kind: TopKind, sorted_by: TopSortKey) -> Option<Top> {
    let number = |key: &str| answer.get(key)?.as_u64();
    let elapsed_us = number("elapsed_us")?.max(1);
    let seconds = elapsed_us as f64 / 1e6;
    let schedulers_online = number("online")?;
    let rates = RateStatus::of(answer.get("rates")?)?;
    let rows = answer.get("rows")?.as_list()?.iter().map(|row| row_of(row, seconds));
    let mut rows: Vec<TopRow> = rows.collect::<Option<_>>()?;
    rows.sort_by(|left, right| sorted_by.texts(left).cmp(&sorted_by.texts(right)));
    Some(Top {
        node: node.to_owned(),
        kind,
        sorted_by,
        interval_ms: elapsed_us / 1000,
        candidates: number("candidates")?,
        scheduler_use: scheduler_use(answer.get("schedulers")?, schedulers_online),
        schedulers_online,
        microstates: match answer.get("microstates")? {
            term if term.is_atom("in_part") => None,
            term => Some(Microstates::of(term)?),
        },
        run_queue: number("run_queue")?,
        memory_bytes: number("memory_bytes")?,
        rates_known: rates == RateStatus::Known,
        rates,
        statistics_ms: number("statistics_ms")?,
        rows,
    })
}

/// The mean of the schedulers for Erlang code that are online; they have the lowest numbers.
fn scheduler_use(schedulers: &Term, online: u64) -> Option<f64> {
    let of_each = schedulers.as_list()?.iter().filter_map(|one| match one.as_tuple()? {
        [id, thousandths] => Some((id.as_u64()?, thousandths.as_f64()?)),
        _ => None,
    });
    let counted: Vec<f64> =
        of_each.filter(|&(id, _)| id <= online).map(|(_, thousandths)| thousandths / 1e3).collect();
    if counted.is_empty() { None } else { Some(counted.iter().sum::<f64>() / counted.len() as f64) }
}

fn row_of(row: &Term, seconds: f64) -> Option<TopRow> {
    let text = |key: &str| row.get(key).and_then(Term::to_text);
    let number = |key: &str| row.get(key).and_then(Term::as_u64);
    let rate = |key: &str| number(key).map(|count| count as f64 / seconds);
    Some(TopRow {
        pid: row.get("pid")?.as_pid()?.to_string(),
        name: text("name")?,
        role: row.get("role").and_then(Term::as_atom).map(str::to_owned),
        vhost: text("vhost"),
        user: text("user"),
        ready: number("ready"),
        unacknowledged: number("unacknowledged"),
        reductions_per_second: rate("reductions")?,
        memory_bytes: number("memory_bytes")?,
        binary_bytes: number("binary_bytes"),
        mailbox: number("mailbox")?,
        in_per_second: rate("in"),
        out_per_second: rate("out"),
        current_function: row.get("current").and_then(function_of),
    })
}

fn function_of(term: &Term) -> Option<String> {
    let [module, function, arity] = term.as_tuple()? else { return None };
    Some(format!("{module}:{function}/{}", arity.as_u64()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_that_are_not_online_do_not_count() {
        let one = |id: i64, use_: i64| Term::tuple([id.into(), use_.into()]);
        let all = Term::list([one(1, 500), one(2, 1000), one(3, 0)]);
        assert_eq!(scheduler_use(&all, 2), Some(0.75));
        assert_eq!(scheduler_use(&Term::list([]), 2), None);
    }

    #[test]
    fn the_words_of_the_command_line_are_those_of_the_node() {
        assert_eq!(atom_of(&TopKind::Connections), Term::atom("connections"));
        assert_eq!(atom_of(&TopSortKey::Binaries), Term::atom("binaries"));
    }
}
