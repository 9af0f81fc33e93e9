//! Reads queues through an agent that was loaded into the node.

use std::{
    mem,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{
    Compiled, Connection, ErlangError, Loaded, Reply, Source as Module, Term,
};

use super::{
    AgeLimits, Listing, Source, Wanted,
    rows::{Key, Remembered, Rows, vhost_and_name},
    urgency::Urgency,
};

/// The node's tables can be read even by a node that is very busy.
const TABLES: Duration = Duration::from_secs(30);

/// Beyond the deadline that the node itself keeps.
const GRACE: Duration = Duration::from_secs(5);

/// What a look may hold on the node. It holds some hundred rows at a time.
const MOST_HEAP_BYTES: u32 = 64 << 20;

/// So many queues are named in one message.
const MOST_NAMED: usize = 1000;

/// Queues of one node.
#[derive(Debug)]
pub struct QueueReader<'a> {
    agent: Loaded<'a>,
    node: String,
    remembered: Remembered,
    /// When the last look began, and how often queues write.
    looked: Option<(Instant, Duration)>,
    urgency: Urgency,
}

/// What the node says at the end of each request.
struct Facts {
    took: Duration,
    ages: AgeLimits,
    statistics: bool,
    /// Nodes of the cluster on which the broker runs.
    running: Vec<String>,
}

impl<'a> QueueReader<'a> {
    /// Loads what reads the queues into the node.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MOST_HEAP_BYTES.into())]);
        Ok(Self {
            agent: Loaded::agent(connection, Module::QUEUES, Compiled::Quickly, options)?,
            node: connection.node().to_owned(),
            remembered: Remembered::default(),
            looked: None,
            urgency: Urgency::default(),
        })
    }

    /// What the queues wrote into the node's tables the last time.
    pub fn read_tables(&mut self, wanted: &Wanted) -> Result<Listing, ErlangError> {
        let began = Instant::now();
        let all = self.expects_news(began);
        let arguments = arguments(wanted, ("infos", truth(all)));
        let mut rows = Rows::after(mem::take(&mut self.remembered));
        let mut facts = self.ask("tables", arguments, TABLES, &mut rows)?;
        if !all {
            let unknown = rows.recall(&self.node);
            for some in unknown.chunks(MOST_NAMED) {
                facts.took += self.ask("infos", named(some), TABLES, &mut rows)?.took;
            }
        }
        self.looked = Some((began, facts.ages.classic));
        let (listing, remembered) = self.listing(rows, Source::Tables, began, &facts);
        self.remembered = remembered;
        Ok(listing)
    }

    /// Most queues are likely to have written since: asking for everything takes less time than asking
    /// for what has changed.
    fn expects_news(&self, now: Instant) -> bool {
        self.looked.is_none_or(|(at, interval)| now.duration_since(at) > interval / 3)
    }

    /// What the queues answer within this time.
    pub fn ask_queues(
        &mut self,
        wanted: &Wanted,
        within: Duration,
    ) -> Result<Listing, ErlangError> {
        let began = Instant::now();
        let limit_ms = i64::try_from(within.as_millis()).unwrap_or(i64::MAX);
        let arguments = arguments(wanted, ("within_ms", limit_ms.into()));
        let mut rows = Rows::default();
        let facts = self.ask("processes", arguments, within + GRACE, &mut rows)?;
        Ok(self.listing(rows, Source::Queues, began, &facts).0)
    }

    /// Removes what was loaded, and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }

    fn listing(
        &self,
        rows: Rows,
        source: Source,
        began: Instant,
        facts: &Facts,
    ) -> (Listing, Remembered) {
        let (rows, remembered) = rows.of_node(&self.node, &facts.running);
        let listing = Listing {
            node: self.node.clone(),
            source,
            ages: facts.ages,
            statistics: facts.statistics,
            began,
            took: began.elapsed(),
            took_on_node: facts.took,
            rows,
        };
        (listing, remembered)
    }

    /// One request: rows as they come, facts at the end.
    fn ask(
        &mut self,
        name: &str,
        mut arguments: Vec<(Term, Term)>,
        within: Duration,
        rows: &mut Rows,
    ) -> Result<Facts, ErlangError> {
        let now = Instant::now();
        // What asks queues and waits for them is in no hurry.
        let urgent = name != "processes" && self.urgency.may(now);
        arguments.push((Term::atom("urgent"), truth(urgent)));
        let mut request = self.agent.request(name, Term::Map(arguments))?;
        let deadline = now + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match request.next(left)? {
                Some(Reply::Event(part)) => {
                    rows.take(&part).ok_or_else(|| ErlangError::unexpected("queues", &part))?;
                }
                Some(Reply::Done(facts)) => {
                    let facts = facts_of(&facts)
                        .ok_or_else(|| ErlangError::unexpected("facts about a look", &facts))?;
                    if urgent {
                        self.urgency.spent(now, facts.took);
                    }
                    return Ok(facts);
                }
                None => {
                    let (node, asked) = (self.node.clone(), format!("the request {name}"));
                    return Err(ErlangError::NoAnswer { node, asked, within });
                }
            }
        }
    }
}

fn facts_of(answer: &Term) -> Option<Facts> {
    let age = |key: &str| Some(Duration::from_millis(answer.get(key)?.as_u64()?));
    let running = answer.get("running")?.as_list()?.iter();
    Some(Facts {
        took: Duration::from_micros(answer.get("took_us")?.as_u64()?),
        ages: AgeLimits {
            classic: age("interval_ms")?,
            quorum: age("quorum_ms")?,
            stream: age("stream_ms")?,
        },
        statistics: !answer.get("statistics")?.is_atom("none"),
        running: running.map(|node| node.as_atom().map(str::to_owned)).collect::<Option<_>>()?,
    })
}

fn arguments(wanted: &Wanted, (key, value): (&str, Term)) -> Vec<(Term, Term)> {
    let filter = |text: &Option<String>| {
        text.as_ref().map_or_else(|| Term::atom("all"), |text| Term::text(text))
    };
    vec![
        (Term::atom("vhost"), filter(&wanted.vhost)),
        (Term::atom("name"), filter(&wanted.name)),
        (Term::atom(key), value),
    ]
}

fn truth(value: bool) -> Term {
    Term::atom(if value { "true" } else { "false" })
}

fn named(keys: &[Key]) -> Vec<(Term, Term)> {
    let place = |key: &Key| {
        let (vhost, name) = vhost_and_name(key);
        Term::tuple([Term::Binary(vhost.to_vec()), Term::Binary(name.to_vec())])
    };
    let queues: Vec<Term> = keys.iter().map(place).collect();
    vec![(Term::atom("queues"), queues.into())]
}
