//! Who does or holds most: read from the node as a small table, whatever their number.

use std::{
    fmt,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{
    Compiled, Connection, ErlangError, Loaded, Reply, Source as Module, Term,
};
use serde::Serialize;

use rabbitscope_text::{Align, human_bytes, table};

use super::{microstates::Microstates, rates::Rates};

/// Beyond the interval that is measured.
const GRACE: Duration = Duration::from_secs(30);

/// What the two snapshots may hold on the node; beyond that the node is worth more than the answer.
const MOST_HEAP_BYTES: u32 = 128 << 20;

/// Which processes are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
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

/// By which figure they are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    /// Reductions within the interval
    #[default]
    Cpu,
    /// Memory of the process
    Memory,
    /// Messages that wait in the process's mailbox
    Mailbox,
    /// Large binaries that the process refers to
    Binaries,
    /// Bytes (connections) or messages (channels, queues) received within the interval
    In,
    /// The same, sent
    Out,
}

/// A table of the best, and what the node did meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Top {
    pub node: String,
    kind: Kind,
    sorted_by: Key,
    interval_ms: u64,
    /// Among how many.
    candidates: u64,
    /// Share of the interval in which the schedulers that are online worked.
    scheduler_use: Option<f64>,
    schedulers_online: u64,
    /// What the VM's threads did, by type; absent when that was counted for a part of the interval only.
    microstates: Option<Microstates>,
    run_queue: u64,
    memory_bytes: u64,
    /// The node counts messages, and within this interval that says something.
    rates_known: bool,
    #[serde(skip)]
    rates: Rates,
    /// How often the node writes its counters of messages.
    statistics_ms: u64,
    pub rows: Vec<TopRow>,
}

/// A process, or what it is for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TopRow {
    pub pid: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vhost: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unacknowledged: Option<u64>,
    reductions_per_second: f64,
    memory_bytes: u64,
    binary_bytes: Option<u64>,
    mailbox: u64,
    in_per_second: Option<f64>,
    out_per_second: Option<f64>,
    current_function: Option<String>,
}

/// Reads tops of one node.
#[derive(Debug)]
pub struct TopReader<'a> {
    agent: Loaded<'a>,
}

impl<'a> TopReader<'a> {
    /// Loads what reads the processes into the node.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MOST_HEAP_BYTES.into())]);
        Ok(Self { agent: Loaded::agent(connection, Module::TOP, Compiled::Quickly, options)? })
    }

    /// Two snapshots with the interval between them; the `rows` best.
    pub fn read(
        &mut self,
        kind: Kind,
        key: Key,
        interval: Duration,
        rows: u32,
    ) -> Result<Top, ErlangError> {
        let interval_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
        let arguments = Term::map([
            ("what", word(&kind)),
            ("sort", word(&key)),
            ("interval_ms", interval_ms.into()),
            ("limit", rows.into()),
        ]);
        let answer = self.ask(arguments, interval + GRACE)?;
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

    /// Removes what was loaded, and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }
}

/// The atom for a value of the command line.
fn word(value: &impl clap::ValueEnum) -> Term {
    let value = value.to_possible_value().expect("no value is hidden");
    Term::atom(value.get_name())
}

fn top_of(answer: &Term, node: &str, kind: Kind, sorted_by: Key) -> Option<Top> {
    let number = |key: &str| answer.get(key)?.as_u64();
    let elapsed_us = number("elapsed_us")?.max(1);
    let seconds = elapsed_us as f64 / 1e6;
    let schedulers_online = number("online")?;
    let rates = Rates::of(answer.get("rates")?)?;
    let rows = answer.get("rows")?.as_list()?.iter().map(|row| row_of(row, seconds));
    Some(Top {
        node: node.to_owned(),
        kind,
        sorted_by,
        interval_ms: elapsed_us / 1000,
        candidates: number("candidates")?,
        scheduler_use: scheduler_use(answer.get("schedulers")?, schedulers_online),
        schedulers_online,
        microstates: match answer.get("microstates")? {
            // Of a part of the interval.
            term if term.is_atom("in_part") => None,
            term => Some(Microstates::of(term)?),
        },
        run_queue: number("run_queue")?,
        memory_bytes: number("memory_bytes")?,
        rates_known: rates == Rates::Known,
        rates,
        statistics_ms: number("statistics_ms")?,
        rows: rows.collect::<Option<_>>()?,
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

impl fmt::Display for Top {
    /// The node's line, the table, and what is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.scheduler_use.map_or_else(String::new, |share| {
            format!("schedulers {:.0} % of {}, ", share * 100.0, self.schedulers_online)
        });
        writeln!(
            f,
            "{}  {used}run queue {}, memory {}, {} {}\n{}\n",
            self.node,
            self.run_queue,
            human_bytes(self.memory_bytes),
            self.candidates,
            self.kind.words(),
            self.microstates.as_ref().map_or_else(
                || "what they did is not known: somebody else has switched that accounting"
                    .to_owned(),
                Microstates::to_string
            ),
        )?;
        f.write_str(&self.table())?;
        write!(f, "\n\nover {:.1} s", self.interval_ms as f64 / 1000.0)?;
        f.write_str(&self.rates.reason(self.statistics_ms).unwrap_or_default())
    }
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Queues => "queues",
            Self::Connections => "connections",
            Self::Channels => "channels",
        }
    }
}

impl Top {
    fn table(&self) -> String {
        use Align::{Left, Right};
        let common =
            [("reductions/s", Right), ("memory", Right), ("binaries", Right), ("mailbox", Right)];
        let [cpu, memory, binaries, mailbox] = common;
        if self.kind == Kind::Processes {
            let columns = [
                ("pid", Left),
                ("role", Left),
                ("name", Left),
                cpu,
                memory,
                binaries,
                mailbox,
                ("now in", Left),
            ];
            return table(columns, &self.rows.iter().map(TopRow::of_process).collect::<Vec<_>>());
        }
        let title = self.kind.title();
        let columns = [
            (title, Left),
            ("vhost", Left),
            cpu,
            memory,
            binaries,
            mailbox,
            ("in/s", Right),
            ("out/s", Right),
        ];
        let in_bytes = self.kind == Kind::Connections;
        table(columns, &self.rows.iter().map(|row| row.of_broker(in_bytes)).collect::<Vec<_>>())
    }
}

impl Kind {
    fn title(self) -> &'static str {
        match self {
            Self::Processes => "process",
            Self::Queues => "queue",
            Self::Connections => "connection",
            Self::Channels => "channel",
        }
    }
}

impl TopRow {
    /// Reductions, memory, binaries, mailbox.
    fn costs(&self) -> [String; 4] {
        [
            format!("{:.0}", self.reductions_per_second),
            human_bytes(self.memory_bytes),
            self.binary_bytes.map_or_else(unknown, human_bytes),
            self.mailbox.to_string(),
        ]
    }

    fn of_process(&self) -> [String; 8] {
        let [cpu, memory, binaries, mailbox] = self.costs();
        let role = self.role.clone().unwrap_or_default();
        let current = self.current_function.clone().unwrap_or_else(unknown);
        [self.pid.clone(), role, self.name.clone(), cpu, memory, binaries, mailbox, current]
    }

    fn of_broker(&self, in_bytes: bool) -> [String; 8] {
        let [cpu, memory, binaries, mailbox] = self.costs();
        let rate = |rate: Option<f64>| match rate {
            None => unknown(),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "bytes a second, shown with three digits"
            )]
            Some(rate) if in_bytes => human_bytes(rate as u64),
            Some(rate) => format!("{rate:.0}"),
        };
        let vhost = self.vhost.clone().unwrap_or_default();
        let (into, out) = (rate(self.in_per_second), rate(self.out_per_second));
        [self.name.clone(), vhost, cpu, memory, binaries, mailbox, into, out]
    }
}

fn unknown() -> String {
    "-".to_owned()
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
        assert_eq!(word(&Kind::Connections), Term::atom("connections"));
        assert_eq!(word(&Key::Binaries), Term::atom("binaries"));
    }
}
