//! Queues as rows: what was found, what is wanted of it, in which order.

use std::{
    cmp::Reverse,
    hash::{Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant},
};

use rustc_hash::FxHasher;
use serde::Serialize;

use rabbitscope_text::{Align, human_bytes, table};

use super::AgeLimits;
use rabbitscope_text::escapes;

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueRow {
    /// Its name.
    pub name: Arc<str>,
    /// Its virtual host.
    pub vhost: Arc<str>,
    /// `classic`, `quorum` or `stream`.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// Where its leader is.
    pub node: Arc<str>,
    /// As the broker names it: `running`, `idle` …
    pub state: Option<Arc<str>>,
    /// Messages that wait for a consumer.
    pub ready: Option<u64>,
    /// Messages that were delivered and not acknowledged yet.
    pub unacknowledged: Option<u64>,
    /// Its consumers.
    pub consumers: Option<u64>,
    /// Of its process.
    pub memory_bytes: Option<u64>,
    /// Why there are no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
}

/// Why a queue has no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Its leader is on another node, whose tables have them.
    NotHere,
    /// It was asked and did not answer in time.
    NoAnswer,
    /// The time was over before it could be asked.
    NotAsked,
    /// It was deleted meanwhile.
    Gone,
    /// Its process is not there, or the node that it is on does not run.
    Down,
}

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The node's tables, which queues write now and then.
    Tables,
    /// The queues themselves.
    Queues,
}

/// What was found on a node.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The Erlang name of the node.
    pub node: String,
    /// What was asked.
    pub source: Source,
    /// What is in the tables is at most this old, unless a queue is too busy to write it.
    pub ages: AgeLimits,
    /// The node keeps figures of classic queues.
    pub statistics: bool,
    /// When the look began.
    pub began: Instant,
    /// How long it took.
    pub took: Duration,
    /// As much of it as the node worked, or was busy with others.
    pub took_on_node: Duration,
    /// One for each queue.
    pub rows: Vec<QueueRow>,
}

/// Which queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of this virtual host.
    pub vhost: Option<String>,
    /// The name contains this.
    pub name: Option<String>,
}

/// By what rows are ordered; numbers with the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SortKey {
    /// Virtual host and name
    #[default]
    Name,
    /// Messages that wait for a consumer
    Ready,
    /// Messages that were delivered and not acknowledged yet
    Unacknowledged,
    /// Consumers
    Consumers,
    /// Memory of the queue's process
    Memory,
}

/// Which part of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// From 1.
    pub number: u32,
    /// Rows on each; all on one without it.
    pub size: Option<u32>,
}

impl Wanted {
    fn includes(&self, row: &QueueRow) -> bool {
        self.vhost.as_ref().is_none_or(|vhost| **vhost == *row.vhost)
            && self.name.as_ref().is_none_or(|part| row.name.contains(part.as_str()))
    }
}

impl SortKey {
    /// The value, `name` or another of the words of `--sort`.
    pub fn parse(text: &str) -> Option<Self> {
        clap::ValueEnum::from_str(text, false).ok()
    }

    fn value(self, row: &QueueRow) -> Option<u64> {
        match self {
            Self::Name => None,
            Self::Ready => row.ready,
            Self::Unacknowledged => row.unacknowledged,
            Self::Consumers => row.consumers,
            Self::Memory => row.memory_bytes,
        }
    }

    /// Rows without a value come last, equal ones by name.
    pub fn sort(self, rows: &mut [&QueueRow]) {
        rows.sort_by(|left, right| {
            let key = |row: &QueueRow| Reverse(self.value(row));
            (key(left), &left.vhost, &left.name).cmp(&(key(right), &right.vhost, &right.name))
        });
    }
}

impl Page {
    fn of<'a, 'b>(self, rows: &'b [&'a QueueRow]) -> &'b [&'a QueueRow] {
        let size = self.size.map_or(rows.len(), |size| size as usize);
        let start = size.saturating_mul(self.number.saturating_sub(1) as usize).min(rows.len());
        &rows[start..rows.len().min(start.saturating_add(size))]
    }
}

/// What is shown of a listing.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Shown<'a> {
    node: &'a str,
    source: Source,
    /// That of the types that are here, of which figures are from tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    age_limit_ms: Option<u64>,
    #[serde(skip)]
    ages: AgeLimits,
    took_ms: f64,
    took_on_node_ms: f64,
    /// Queues that fit what was asked for, on all pages.
    total: usize,
    /// Queues that were asked and have not answered, or could not be asked in time.
    pub unanswered: Vec<String>,
    /// Those of this page.
    pub queues: Vec<&'a QueueRow>,
}

impl Listing {
    /// Of the oldest figures from tables.
    fn age_limit_ms(&self, rows: &[&QueueRow]) -> Option<u64> {
        let limits = self.ages.of_tables(self.source, rows).map(|(_, limit)| limit);
        limits.max().and_then(|limit| u64::try_from(limit.as_millis()).ok())
    }

    /// The rows that are wanted, in order, of one page.
    pub fn shown(&self, wanted: &Wanted, sort: SortKey, page: Page) -> Shown<'_> {
        let mut rows: Vec<&QueueRow> =
            self.rows.iter().filter(|row| wanted.includes(row)).collect();
        sort.sort(&mut rows);
        let late =
            |row: &&&QueueRow| matches!(row.missing, Some(Missing::NoAnswer | Missing::NotAsked));
        Shown {
            node: &self.node,
            source: self.source,
            age_limit_ms: self.age_limit_ms(&rows),
            ages: self.ages,
            took_ms: tenths_of_ms(self.took),
            took_on_node_ms: tenths_of_ms(self.took_on_node),
            total: rows.len(),
            unanswered: rows.iter().filter(late).map(|row| row.to_path()).collect(),
            queues: page.of(&rows).to_vec(),
        }
    }
}

impl QueueRow {
    /// Virtual host and name, as the management interface writes them.
    fn to_path(&self) -> String {
        format!("{}/{}", self.vhost.trim_end_matches('/'), self.name)
    }

    fn cells(&self) -> [String; 8] {
        let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |it| it.to_string());
        let state = match self.missing {
            Some(Missing::NotHere) => format!("on {}", self.node),
            Some(Missing::NoAnswer) => "no answer".to_owned(),
            Some(Missing::NotAsked) => "not asked".to_owned(),
            Some(Missing::Gone) => "deleted".to_owned(),
            Some(Missing::Down) => "down".to_owned(),
            None => self.state.as_deref().unwrap_or("-").to_owned(),
        };
        [
            self.name.to_string(),
            self.vhost.to_string(),
            self.kind.to_string(),
            number(self.ready),
            number(self.unacknowledged),
            number(self.consumers),
            self.memory_bytes.map_or_else(|| "-".to_owned(), human_bytes),
            state,
        ]
    }
}

fn tenths_of_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

impl Shown<'_> {
    /// The same for the same queues and figures, however long it took to get them: an HTTP entity tag.
    pub fn tag(&self) -> String {
        let mut hasher = FxHasher::default();
        (self.total, &self.queues).hash(&mut hasher);
        format!("W/\"{:016x}\"", hasher.finish())
    }

    /// The table, and how its figures were obtained.
    pub fn to_text(&self) -> String {
        use Align::{Left, Right};
        let columns = [
            ("queue", Left),
            ("vhost", Left),
            ("type", Left),
            ("ready", Right),
            ("unacked", Right),
            ("consumers", Right),
            ("memory", Right),
            ("state", Left),
        ];
        let rows: Vec<_> = self.queues.iter().map(|row| row.cells()).collect();
        let how = self.ages.words(self.source, &self.queues);
        let late = match self.unanswered.len() {
            0 => String::new(),
            number => format!("; {number} gave no answer: {}", some_of(&self.unanswered)),
        };
        format!(
            "{}\n\n{} of {} queues, {how}, in {:.0} ms{late}",
            table(columns, &rows),
            self.queues.len(),
            self.total,
            self.took_ms
        )
    }
}

fn some_of(names: &[String]) -> String {
    const MOST: usize = 20;
    let first: Vec<_> = names.iter().take(MOST).map(|name| escapes::value(name)).collect();
    let more = if names.len() > MOST { " …" } else { "" };
    first.join(" ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(name: &str, vhost: &str, ready: Option<u64>) -> QueueRow {
        QueueRow {
            name: name.into(),
            vhost: vhost.into(),
            kind: "classic".into(),
            node: "a@b".into(),
            state: None,
            ready,
            unacknowledged: Some(0),
            consumers: Some(0),
            memory_bytes: Some(0),
            missing: ready.is_none().then_some(Missing::NoAnswer),
        }
    }

    fn listing() -> Listing {
        let rows = vec![
            queue("b", "/", Some(1)),
            queue("a", "/", None),
            queue("c", "/", Some(5)),
            queue("ab", "x", Some(5)),
        ];
        let node = "a@b".to_owned();
        let source = Source::Queues;
        let (began, took, took_on_node) =
            (Instant::now(), Duration::from_millis(2), Duration::from_millis(1));
        let ages = AgeLimits {
            classic: Duration::from_secs(1),
            quorum: Duration::from_secs(5),
            stream: Duration::from_secs(5),
        };
        Listing { node, source, ages, statistics: true, began, took, took_on_node, rows }
    }

    #[test]
    fn the_age_that_holds_is_said_by_type() {
        fn check(source: Source, kinds: &[&str], part: &str, age: Option<u64>) {
            let kind = |kind: &&str| QueueRow { kind: (*kind).into(), ..queue("q", "/", Some(1)) };
            let rows = kinds.iter().map(kind).collect();
            let listing = Listing { source, rows, ..listing() };
            let shown =
                listing.shown(&Wanted::default(), SortKey::Name, Page { number: 1, size: None });
            let text = shown.to_text();
            assert!(text.contains(&format!("{part}, in ")), "{text}");
            assert_eq!(shown.age_limit_ms, age);
        }
        let (tables, queues) = (Source::Tables, Source::Queues);
        check(tables, &["classic"], "tables, at most 1 s old", Some(1_000));
        check(tables, &["quorum", "stream"], "tables, at most 5 s old", Some(5_000));
        check(tables, &["quorum", "classic"], "so old: classic 1 s, quorum 5 s", Some(5_000));
        check(queues, &["quorum", "classic"], "from the queues themselves", None);
        check(queues, &["stream", "classic"], "so old: stream 5 s", Some(5_000));
    }

    #[test]
    fn rows_are_chosen_and_ordered() {
        fn check(
            wanted: (Option<&str>, Option<&str>),
            sort: SortKey,
            page: (u32, u32),
            expected: &str,
        ) {
            let wanted =
                Wanted { vhost: wanted.0.map(str::to_owned), name: wanted.1.map(str::to_owned) };
            let listing = listing();
            let page = Page { number: page.0, size: Some(page.1) };
            let shown = listing.shown(&wanted, sort, page);
            let names: Vec<&str> = shown.queues.iter().map(|row| &*row.name).collect();
            assert_eq!(names.join(" "), expected);
        }
        check((None, None), SortKey::Name, (1, 9), "a b c ab");
        check((None, None), SortKey::Ready, (1, 9), "c ab b a");
        check((None, None), SortKey::Ready, (2, 3), "a");
        check((None, None), SortKey::Ready, (3, 3), "");
        check((Some("x"), None), SortKey::Name, (1, 9), "ab");
        check((None, Some("b")), SortKey::Name, (1, 9), "b ab");
    }

    #[test]
    fn who_did_not_answer_is_named() {
        let listing = listing();
        let all = Page { number: 1, size: None };
        let text = listing.shown(&Wanted::default(), SortKey::Name, all).to_text();
        assert!(text.ends_with("; 1 gave no answer: /a"), "{text}");
    }
}
