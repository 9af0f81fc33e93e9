//! Reads queues through the agent `agent/rabbitscope_queues.erl` on the node.

use std::{
    mem,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{Compiled, Connection, ErlangError, Loaded, ModuleSource, Reply, Term};

use super::{
    AgeLimits, Listing, QueueFilter, QueueSource,
    cache::{QueueCache, QueueKey, vhost_and_name},
    priority_budget::PriorityBudget,
    rows::Rows,
};

/// Timeout of a request that reads only the node's tables. No queue takes part, so even a saturated node answers within
/// seconds.
const TABLES_TIMEOUT: Duration = Duration::from_secs(30);

/// Time for sending the rows, in addition to the agent's own deadline for a request to the queues.
const GRACE: Duration = Duration::from_secs(5);

/// Heap limit of a request on the node. The agent holds some hundred rows at a time, far below it.
const MAX_HEAP_BYTES: u32 = 64 << 20;

/// Maximum number of queues in one request, so that a message has some tens of kilobytes.
const MAX_QUEUES_PER_REQUEST: usize = 1000;

/// Reads the queues of one node.
#[derive(Debug)]
pub struct QueueReader<'a> {
    agent: Loaded<'a>,
    node: String,
    cache: QueueCache,
    /// Beginning of the last reading, and the interval at which classic queues write.
    last_reading: Option<(Instant, Duration)>,
    priority_budget: PriorityBudget,
}

/// The agent's report at the end of each request.
struct ReadSummary {
    took: Duration,
    ages: AgeLimits,
    statistics: bool,
    /// Nodes of the cluster where the broker runs.
    running: Vec<String>,
}

impl<'a> QueueReader<'a> {
    /// Loads the agent into the node.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MAX_HEAP_BYTES.into())]);
        Ok(Self {
            agent: Loaded::agent(connection, ModuleSource::QUEUES, Compiled::Quickly, options)?,
            node: connection.node().to_owned(),
            cache: QueueCache::default(),
            last_reading: None,
            priority_budget: PriorityBudget::default(),
        })
    }

    /// Reads the figures that the queues wrote last into the node's tables.
    pub fn read_tables(&mut self, filter: &QueueFilter) -> Result<Listing, ErlangError> {
        let began = Instant::now();
        let all = self.expects_changes(began);
        let arguments = arguments(filter, ("infos", boolean(all)));
        let mut rows = Rows::after(mem::take(&mut self.cache));
        let mut summary = self.ask("tables", arguments, TABLES_TIMEOUT, &mut rows)?;
        if !all {
            let unknown = rows.fill_from_cache(&self.node);
            for some in unknown.chunks(MAX_QUEUES_PER_REQUEST) {
                summary.took += self.ask("infos", named(some), TABLES_TIMEOUT, &mut rows)?.took;
            }
        }
        self.last_reading = Some((began, summary.ages.classic));
        let (listing, cache) = self.listing(rows, QueueSource::Tables, began, &summary);
        self.cache = cache;
        Ok(listing)
    }

    /// Returns whether most queues have probably written since the last reading. Reading all figures is then faster
    /// than reading only changed ones.
    fn expects_changes(&self, now: Instant) -> bool {
        self.last_reading.is_none_or(|(at, interval)| now.duration_since(at) > interval / 3)
    }

    /// Reads figures from the queues themselves, from those that answer within this time.
    pub fn ask_queues(
        &mut self,
        filter: &QueueFilter,
        within: Duration,
    ) -> Result<Listing, ErlangError> {
        let began = Instant::now();
        let limit_ms = i64::try_from(within.as_millis()).unwrap_or(i64::MAX);
        let arguments = arguments(filter, ("within_ms", limit_ms.into()));
        let mut rows = Rows::default();
        let summary = self.ask("processes", arguments, within + GRACE, &mut rows)?;
        Ok(self.listing(rows, QueueSource::Queues, began, &summary).0)
    }

    /// Removes the agent and waits until it is gone.
    pub fn end(self) -> Result<(), ErlangError> {
        self.agent.end().map(drop)
    }

    fn listing(
        &self,
        rows: Rows,
        source: QueueSource,
        began: Instant,
        summary: &ReadSummary,
    ) -> (Listing, QueueCache) {
        let (rows, cache) = rows.finish(&self.node, &summary.running);
        let listing = Listing {
            node: self.node.clone(),
            nodes: Vec::new(),
            missing: Vec::new(),
            source,
            ages: summary.ages,
            statistics: summary.statistics,
            began,
            took: began.elapsed(),
            took_on_node: summary.took,
            rows,
        };
        (listing, cache)
    }

    /// Sends a request and adds its messages to the rows.
    fn ask(
        &mut self,
        name: &str,
        mut arguments: Vec<(Term, Term)>,
        within: Duration,
        rows: &mut Rows,
    ) -> Result<ReadSummary, ErlangError> {
        let now = Instant::now();
        // A request to the queues mostly waits for them, and needs no priority.
        let urgent = name != "processes" && self.priority_budget.allows(now);
        arguments.push((Term::atom("urgent"), boolean(urgent)));
        let mut request = self.agent.request(name, Term::Map(arguments))?;
        let deadline = now + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match request.next(left)? {
                Some(Reply::Event(part)) => {
                    rows.add(&part).ok_or_else(|| ErlangError::unexpected("queues", &part))?;
                }
                Some(Reply::Done(summary)) => {
                    let summary = summary_of(&summary)
                        .ok_or_else(|| ErlangError::unexpected("summary of a reading", &summary))?;
                    if urgent {
                        self.priority_budget.charge(now, summary.took);
                    }
                    return Ok(summary);
                }
                None => {
                    let (node, asked) = (self.node.clone(), format!("the request {name}"));
                    return Err(ErlangError::NoAnswer { node, asked, within });
                }
            }
        }
    }
}

fn summary_of(answer: &Term) -> Option<ReadSummary> {
    let age = |key: &str| Some(Duration::from_millis(answer.get(key)?.as_u64()?));
    let running = answer.get("running")?.as_list()?.iter();
    Some(ReadSummary {
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

fn arguments(filter: &QueueFilter, (key, value): (&str, Term)) -> Vec<(Term, Term)> {
    let text_or_all = |text: &Option<String>| {
        text.as_ref().map_or_else(|| Term::atom("all"), |text| Term::text(text))
    };
    vec![
        (Term::atom("vhost"), text_or_all(&filter.vhost)),
        (Term::atom("name"), text_or_all(&filter.name)),
        (Term::atom(key), value),
    ]
}

fn boolean(value: bool) -> Term {
    Term::atom(if value { "true" } else { "false" })
}

fn named(keys: &[QueueKey]) -> Vec<(Term, Term)> {
    let place = |key: &QueueKey| {
        let (vhost, name) = vhost_and_name(key);
        Term::tuple([Term::Binary(vhost.to_vec()), Term::Binary(name.to_vec())])
    };
    let queues: Vec<Term> = keys.iter().map(place).collect();
    vec![(Term::atom("queues"), queues.into())]
}
