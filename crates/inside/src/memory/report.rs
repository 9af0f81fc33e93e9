//! The holders of a node's memory, as its agent finds them.

use std::cmp::Reverse;

use rabbitscope_erlang::Term;
use serde::Serialize;

use super::kinds::{BinaryHolders, MemoryKinds};
use crate::limits::Limits;

/// The memory of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MemoryReport {
    /// The Erlang name of the node.
    pub node: String,
    pub(super) kinds: MemoryKinds,
    pub(super) binaries: BinaryHolders,
    pub(super) limits: Limits,
    /// Sums over all holders of a kind, the largest first.
    pub(super) groups: Vec<HolderGroup>,
    /// Single holders, the largest first.
    pub(super) holders: Vec<Holder>,
    /// The longest mailboxes.
    pub(super) mailboxes: Vec<Holder>,
    /// The largest tables.
    pub(super) tables: Vec<TableRow>,
    pub(super) coverage: Coverage,
    pub(super) took_ms: u64,
}

/// The memory of one holder in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Holding {
    /// Number of processes.
    pub(super) processes: u64,
    /// Heaps, stacks and mailboxes.
    pub(super) memory_bytes: u64,
    /// The holder's part of large binaries.
    pub(super) binary_bytes: u64,
    /// Tables, without the binaries that their objects refer to.
    pub(super) table_bytes: u64,
    /// Output that waits on the holder's socket.
    pub(super) socket_bytes: u64,
    /// Sum of the parts.
    pub(super) total_bytes: u64,
    /// Messages that wait in mailboxes.
    pub(super) mailbox: u64,
}

/// All holders of a kind: a role of processes, a type of queue, or named tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct HolderGroup {
    pub(super) kind: String,
    pub(super) count: u64,
    #[serde(flatten)]
    pub(super) holding: Holding,
}

/// A process, a queue with its processes and tables, or a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Holder {
    pub(super) kind: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vhost: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pid: Option<String>,
    #[serde(flatten)]
    pub(super) holding: Holding,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct TableRow {
    pub(super) name: String,
    /// The process whose end deletes the table.
    pub(super) owner: String,
    pub(super) owner_pid: String,
    /// The queue that the table belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vhost: Option<String>,
    pub(super) objects: u64,
    pub(super) table_bytes: u64,
    /// Binaries that objects refer to; absent if the table could not be read.
    pub(super) binary_bytes: Option<u64>,
    /// Objects that were read for the binaries.
    pub(super) objects_read: u64,
    /// `public`, `protected`, or `private`, which only its owner can read.
    pub(super) protection: String,
}

/// The part of the node that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Coverage {
    pub(super) processes: u64,
    /// Processes that could not be read in time.
    pub(super) processes_left: u64,
    /// Processes that did not answer: each holds a scheduler in native code.
    pub(super) unanswered: u64,
    /// Some of the processes that did not answer.
    pub(super) unanswered_pids: Vec<String>,
    /// Processes with too many binaries to list.
    pub(super) unlisted: u64,
    /// Tables whose objects could not be read.
    pub(super) unread_tables: u64,
}

/// The scaling of socket memory to the part that no process or table has counted. The same binary may wait on several
/// sockets and belong to a process.
#[derive(Clone, Copy, Debug)]
struct SocketShare {
    counted: u64,
    used: u64,
}

impl SocketShare {
    fn scale(self, bytes: u64) -> u64 {
        let scaled = u128::from(bytes) * u128::from(self.used) / u128::from(self.counted.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

impl MemoryReport {
    pub(super) fn from_term(answer: &Term, node: &str) -> Option<Self> {
        let list = |key: &str| answer.get(key)?.as_list();
        let limits = Limits::from_term(answer.get("limits")?)?;
        let kinds = MemoryKinds::from_term(answer, limits.count("atoms").unwrap_or_default())?;
        let binaries = BinaryHolders::from_term(answer, kinds.binaries)?;
        let sockets =
            SocketShare { counted: answer.get("in_sockets")?.as_u64()?, used: binaries.sockets };
        let holders = |key: &str| {
            let rows = list(key)?.iter().map(|row| Holder::from_term(row, sockets));
            rows.collect::<Option<Vec<_>>>()
        };
        let groups = list("groups")?.iter().map(|row| HolderGroup::from_term(row, sockets));
        let (mut groups, mut rows) = (groups.collect::<Option<Vec<_>>>()?, holders("rows")?);
        groups.sort_by_key(|row| Reverse(row.holding.total_bytes));
        rows.sort_by_key(|row| Reverse(row.holding.total_bytes));
        Some(Self {
            node: node.to_owned(),
            binaries,
            kinds,
            limits,
            groups,
            holders: rows,
            mailboxes: holders("mailboxes")?,
            tables: list("tables")?.iter().map(TableRow::from_term).collect::<Option<_>>()?,
            coverage: Coverage::from_term(answer)?,
            took_ms: answer.get("took_us")?.as_u64()? / 1000,
        })
    }
}

impl Holding {
    fn new(figures: [u64; 6], share: SocketShare) -> Self {
        let [processes, memory, binaries, tables, sockets, mailbox] = figures;
        let sockets = share.scale(sockets);
        Self {
            processes,
            memory_bytes: memory,
            binary_bytes: binaries,
            table_bytes: tables,
            socket_bytes: sockets,
            total_bytes: memory + binaries + tables + sockets,
            mailbox,
        }
    }
}

impl HolderGroup {
    fn from_term(term: &Term, sockets: SocketShare) -> Option<Self> {
        let [kind, figures] = term.as_tuple()? else { return None };
        let figures: Vec<_> = figures.as_list()?.iter().map(Term::as_u64).collect::<Option<_>>()?;
        let [count, figures @ ..] = figures.as_slice() else { return None };
        Some(Self {
            kind: kind.as_atom()?.to_owned(),
            count: *count,
            holding: Holding::new(figures.try_into().ok()?, sockets),
        })
    }
}

impl Holder {
    fn from_term(row: &Term, sockets: SocketShare) -> Option<Self> {
        let number = |key: &str| row.get(key)?.as_u64();
        let figures = ["processes", "memory", "binaries", "tables", "sockets", "mailbox"];
        let figures: Vec<_> = figures.into_iter().map(number).collect::<Option<_>>()?;
        Some(Self {
            kind: row.get("role")?.as_atom()?.to_owned(),
            name: row.get("name")?.to_text()?,
            vhost: row.get("vhost").and_then(Term::to_text),
            pid: row.get("pid").and_then(|pid| Some(pid.as_pid()?.to_string())),
            holding: Holding::new(figures.try_into().ok()?, sockets),
        })
    }
}

impl TableRow {
    fn from_term(row: &Term) -> Option<Self> {
        let text = |key: &str| row.get(key).and_then(Term::to_text);
        let number = |key: &str| row.get(key)?.as_u64();
        Some(Self {
            name: text("name")?,
            owner: text("owner")?,
            owner_pid: row.get("owner_pid")?.as_pid()?.to_string(),
            queue: text("queue"),
            vhost: text("vhost"),
            objects: number("objects")?,
            table_bytes: number("bytes")?,
            binary_bytes: number("binaries"),
            objects_read: number("read")?,
            protection: row.get("protection")?.as_atom()?.to_owned(),
        })
    }
}

impl Coverage {
    fn from_term(answer: &Term) -> Option<Self> {
        let number = |key: &str| answer.get(key)?.as_u64();
        let silent = answer.get("silent")?.as_list()?.iter();
        Some(Self {
            processes: number("processes")?,
            processes_left: number("processes_left")?,
            unanswered: number("unanswered")?,
            unanswered_pids: silent
                .map(|pid| Some(pid.as_pid()?.to_string()))
                .collect::<Option<_>>()?,
            unlisted: number("unlisted")?,
            unread_tables: number("unread_tables")?,
        })
    }
}
