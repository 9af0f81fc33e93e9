//! The processes, queues, connections or channels that use most of a resource, selected on the node.
//!
//! The node sends only the first rows, regardless of their total number.

use std::time::Duration;

use rabbitscope_erlang::{Compiled, Connection, ErlangError, Loaded, ModuleSource, Term};
use serde::Serialize;

use super::{
    microstates::Microstates,
    rate_status::RateStatus,
    scheduler_use::SchedulerUse,
    top_notes::{Churn, LateProcess, LongMailbox, SilentProcess},
};
use crate::{asking::ask, limits::Limits};

/// Time for a request in addition to its interval: two snapshots of a saturated node with many thousand processes.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Heap limit of a request; it protects the node. The first snapshot is in a table outside the heap.
const MAX_HEAP_BYTES: u32 = 128 << 20;

/// The kind of the listed rows.
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
    /// Messages in the process's mailbox
    Mailbox,
    /// Large binaries referenced by the process
    Binaries,
    /// Bytes (connections) or messages (channels, queues) received within the interval
    #[value(alias = "in/s")]
    In,
    /// Bytes (connections) or messages (channels, queues) sent within the interval
    #[value(alias = "out/s")]
    Out,
    /// Name, among the rows with the most CPU time, like every sort by text
    #[value(aliases = ["queue", "connection", "channel"])]
    Name,
    /// Process identifier
    Pid,
    /// Role of the process
    Role,
    /// Virtual host
    Vhost,
    /// User of the connection
    User,
    /// Connection name given by the client
    Client,
    /// Messages ready in the queue
    Ready,
    /// Messages delivered and not yet acknowledged (queues, channels)
    Unacked,
    /// Prefetch count of the channel, among the rows with the most CPU time
    Prefetch,
    /// Current function of the process
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
    /// Number of compared processes, queues, connections or channels.
    pub(super) candidates: u64,
    /// Share of the interval in which the online schedulers worked, 0 to 1.
    pub(super) scheduler_use: Option<f64>,
    pub(super) schedulers_online: u64,
    /// Microstate accounting of the VM's threads; absent if it was on for only a part of the interval.
    pub(super) microstates: Option<Microstates>,
    pub(super) run_queue: u64,
    pub(super) memory_bytes: u64,
    /// True if the message counters cover this interval.
    pub(super) rates_known: bool,
    #[serde(skip)]
    pub(super) rates: RateStatus,
    /// Interval at which the node writes its message counters.
    pub(super) statistics_ms: u64,
    /// Counts of the node's resources against their limits.
    pub(super) limits: Limits,
    /// Connections and channels that were opened and closed. Absent if the broker does not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) churn: Option<Churn>,
    /// The longest mailbox of the candidates, if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) longest_mailbox: Option<LongMailbox>,
    /// Processes that did not answer and are missing from the rows.
    pub(super) silent: Vec<SilentProcess>,
    /// Processes that repeatedly answer late.
    pub(super) late: Vec<LateProcess>,
    /// Number of this program's own processes, which are excluded.
    pub(super) own_processes: u64,
    /// Rows, the heaviest first.
    pub rows: Vec<TopRow>,
}

/// A process, or the queue, connection or channel that it serves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TopRow {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Name of the process, or of the queue, connection or channel.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vhost: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    /// The client's name for its connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<String>,
    /// The largest prefetch count of a channel's consumers; 0 means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefetch: Option<u64>,
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
    /// Returns the figure for sorting rows, as a whole number.
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
            TopSortKey::Ready => self.ready,
            TopSortKey::Unacked => self.unacknowledged,
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

    /// The name of the node that is read.
    pub(super) fn node(&self) -> &str {
        self.agent.connection().node()
    }

    /// Compares two snapshots that are this interval apart, and returns the first `rows` rows.
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
        let answer = ask(&mut self.agent, "top", arguments, interval + ANSWER_TIMEOUT)?;
        let node = self.agent.connection().node();
        top_of(&answer, node, kind, key).ok_or_else(|| ErlangError::unexpected("top", &answer))
    }

    /// Removes the agent and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }
}

/// Returns the atom for a value of the command line.
fn atom_of(value: &impl clap::ValueEnum) -> Term {
    let value = value.to_possible_value().expect("no value is hidden");
    Term::atom(value.get_name())
}

fn top_of(answer: &Term, node: &str, kind: TopKind, sorted_by: TopSortKey) -> Option<Top> {
    let number = |key: &str| answer.get(key)?.as_u64();
    let elapsed_us = number("elapsed_us")?.max(1);
    let seconds = elapsed_us as f64 / 1e6;
    let schedulers_online = number("online")?;
    let rates = RateStatus::from_term(answer.get("rates")?)?;
    let silent = answer.get("silent")?.as_list()?.iter().map(SilentProcess::from_term);
    let late = answer.get("late")?.as_list()?.iter().map(LateProcess::from_term);
    let rows = answer.get("rows")?.as_list()?.iter().map(|row| row_of(row, seconds));
    let mut rows: Vec<TopRow> = rows.collect::<Option<_>>()?;
    rows.sort_by(|left, right| sorted_by.order(left, right));
    Some(Top {
        node: node.to_owned(),
        kind,
        sorted_by,
        interval_ms: elapsed_us / 1000,
        candidates: number("candidates")?,
        scheduler_use: SchedulerUse::from_term(answer.get("schedulers")?)?.mean(schedulers_online),
        schedulers_online,
        microstates: match answer.get("microstates")? {
            term if term.is_atom("in_part") => None,
            term => Some(Microstates::from_term(term)?),
        },
        run_queue: number("run_queue")?,
        memory_bytes: number("memory_bytes")?,
        rates_known: rates == RateStatus::Known,
        rates,
        statistics_ms: number("statistics_ms")?,
        limits: Limits::from_term(answer.get("limits")?)?,
        churn: Churn::from_term(answer.get("churn")?),
        longest_mailbox: LongMailbox::from_term(answer.get("longest")?),
        silent: silent.collect::<Option<_>>()?,
        late: late.collect::<Option<_>>()?,
        own_processes: number("own")?,
        rows,
    })
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
        client: text("client").filter(|name| !name.is_empty()),
        prefetch: number("prefetch"),
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
    fn the_words_of_the_command_line_are_those_of_the_node() {
        assert_eq!(atom_of(&TopKind::Connections), Term::atom("connections"));
        assert_eq!(atom_of(&TopSortKey::Binaries), Term::atom("binaries"));
    }
}
