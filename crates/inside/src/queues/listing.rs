//! The queues of one reading, and a user's selection from them.

use std::{
    hash::{Hash, Hasher},
    time::{Duration, Instant},
};

use rabbitscope_text::{Align, Column, escapes, table};
use rustc_hash::FxHasher;
use serde::Serialize;

use super::{AgeLimits, MissingReason, Page, QueueFilter, QueueRow, QueueSource, SortKey};
use crate::cluster::{MissingNode, behind_node, missing_lines};

/// The queues of one or several nodes.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The Erlang name of the node; with several nodes, of the first one.
    pub node: String,
    /// All nodes if there are several; otherwise empty.
    pub nodes: Vec<String>,
    /// Nodes of the cluster that could not be read.
    pub missing: Vec<MissingNode>,
    /// Source of the figures.
    pub source: QueueSource,
    /// Greatest age of figures from tables, unless a queue is too busy to write them.
    pub ages: AgeLimits,
    /// True if the node collects statistics of classic queues.
    pub statistics: bool,
    /// Beginning of the reading.
    pub began: Instant,
    /// Duration of the reading.
    pub took: Duration,
    /// The part of that duration on the node.
    pub took_on_node: Duration,
    /// One row per queue.
    pub rows: Vec<QueueRow>,
}

/// The selected queues of a listing, as table or JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ListingView<'a> {
    node: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    nodes: &'a [String],
    #[serde(skip_serializing_if = "<[MissingNode]>::is_empty")]
    missing: &'a [MissingNode],
    source: QueueSource,
    /// Greatest age of the figures from tables, over the types of the selected queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    age_limit_ms: Option<u64>,
    #[serde(skip)]
    ages: AgeLimits,
    took_ms: f64,
    took_on_node_ms: f64,
    /// Number of selected queues on all pages.
    total: usize,
    /// Queues that did not answer, or could not be asked in time.
    pub unanswered: Vec<String>,
    /// The queues of this page.
    pub queues: Vec<&'a QueueRow>,
}

impl Listing {
    /// Greatest age of figures from tables, over all types of queues.
    fn age_limit_ms(&self, rows: &[&QueueRow]) -> Option<u64> {
        let limits = self.ages.of_tables(self.source, rows).map(|(_, limit)| limit);
        limits.max().and_then(|limit| u64::try_from(limit.as_millis()).ok())
    }

    /// Returns one page of the queues that the filter selects.
    pub fn view(&self, filter: &QueueFilter, sort: SortKey, page: Page) -> ListingView<'_> {
        let mut rows: Vec<&QueueRow> =
            self.rows.iter().filter(|row| filter.includes(row)).collect();
        sort.sort(&mut rows);
        let late = |row: &&&QueueRow| {
            matches!(row.missing, Some(MissingReason::NoAnswer | MissingReason::NotAsked))
        };
        ListingView {
            node: &self.node,
            nodes: &self.nodes,
            missing: &self.missing,
            source: self.source,
            age_limit_ms: self.age_limit_ms(&rows),
            ages: self.ages,
            took_ms: tenths_of_ms(self.took),
            took_on_node_ms: tenths_of_ms(self.took_on_node),
            total: rows.len(),
            unanswered: rows.iter().filter(late).map(|row| row.to_path()).collect(),
            queues: page.slice(&rows).to_vec(),
        }
    }
}

fn tenths_of_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

impl ListingView<'_> {
    /// Returns the HTTP entity tag. It is equal for equal queues and figures, regardless of the duration of the
    /// reading.
    pub fn tag(&self) -> String {
        let mut hasher = FxHasher::default();
        (self.total, &self.queues).hash(&mut hasher);
        format!("W/\"{:016x}\"", hasher.finish())
    }

    /// Returns the table, with age and source of its figures.
    pub fn to_text(&self) -> String {
        let how = self.ages.words(self.source, &self.queues);
        let late = match self.unanswered.len() {
            0 => String::new(),
            number => format!("; {number} gave no answer: {}", some_of(&self.unanswered)),
        };
        format!(
            "{}\n\n{} of {} queues, {how}, in {:.0} ms{late}{}",
            self.table(),
            self.queues.len(),
            self.total,
            self.took_ms,
            missing_lines(self.missing)
        )
    }

    /// Returns the table. With several nodes it has a column for the node that leads the queue.
    fn table(&self) -> String {
        if self.nodes.is_empty() {
            let rows: Vec<_> = self.queues.iter().map(|row| row.cells()).collect();
            return table(COLUMNS, &rows);
        }
        let cells = |row: &&QueueRow| behind_node(row.node.to_string(), row.cells());
        let columns = behind_node(("node", Align::Left), COLUMNS);
        table(columns, &self.queues.iter().map(cells).collect::<Vec<_>>())
    }
}

/// The columns of [`QueueRow::cells`].
const COLUMNS: [Column; 8] = [
    ("queue", Align::Left),
    ("vhost", Align::Left),
    ("type", Align::Left),
    ("ready", Align::Right),
    ("unacked", Align::Right),
    ("consumers", Align::Right),
    ("memory", Align::Right),
    ("state", Align::Left),
];

fn some_of(names: &[String]) -> String {
    const MAX: usize = 20;
    let first: Vec<_> = names.iter().take(MAX).map(|name| escapes::value(name)).collect();
    let more = if names.len() > MAX { " …" } else { "" };
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
            missing: ready.is_none().then_some(MissingReason::NoAnswer),
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
        let source = QueueSource::Queues;
        let (began, took, took_on_node) =
            (Instant::now(), Duration::from_millis(2), Duration::from_millis(1));
        let ages = AgeLimits {
            classic: Duration::from_secs(1),
            quorum: Duration::from_secs(5),
            stream: Duration::from_secs(5),
        };
        let (nodes, missing) = (Vec::new(), Vec::new());
        Listing {
            node,
            nodes,
            missing,
            source,
            ages,
            statistics: true,
            began,
            took,
            took_on_node,
            rows,
        }
    }

    #[test]
    fn the_age_that_holds_is_said_by_type() {
        fn check(source: QueueSource, kinds: &[&str], part: &str, age: Option<u64>) {
            let kind = |kind: &&str| QueueRow { kind: (*kind).into(), ..queue("q", "/", Some(1)) };
            let rows = kinds.iter().map(kind).collect();
            let listing = Listing { source, rows, ..listing() };
            let shown = listing.view(
                &QueueFilter::default(),
                SortKey::Name,
                Page { number: 1, size: None },
            );
            let text = shown.to_text();
            assert!(text.contains(&format!("{part}, in ")), "{text}");
            assert_eq!(shown.age_limit_ms, age);
        }
        let (tables, queues) = (QueueSource::Tables, QueueSource::Queues);
        check(tables, &["classic"], "tables, at most 1 s old", Some(1_000));
        check(tables, &["quorum", "stream"], "tables, at most 5 s old", Some(5_000));
        check(tables, &["quorum", "classic"], "maximum age: classic 1 s, quorum 5 s", Some(5_000));
        check(queues, &["quorum", "classic"], "from the queues themselves", None);
        check(queues, &["stream", "classic"], "maximum age: stream 5 s", Some(5_000));
    }

    #[test]
    fn rows_are_chosen_and_ordered() {
        fn check(
            filter: (Option<&str>, Option<&str>),
            sort: SortKey,
            page: (u32, u32),
            expected: &str,
        ) {
            let filter = QueueFilter {
                vhost: filter.0.map(str::to_owned),
                name: filter.1.map(str::to_owned),
            };
            let listing = listing();
            let page = Page { number: page.0, size: Some(page.1) };
            let shown = listing.view(&filter, sort, page);
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
    fn every_heading_is_a_word_for_an_order() {
        for (heading, _) in COLUMNS.into_iter().chain([("node", Align::Left)]) {
            assert!(SortKey::parse(heading).is_some(), "{heading}");
        }
    }

    #[test]
    fn rows_are_ordered_by_their_texts() {
        let mut listing = listing();
        for (row, kind) in listing.rows.iter_mut().zip(["stream", "classic", "quorum", "classic"]) {
            row.kind = kind.into();
        }
        let all = Page { number: 1, size: None };
        let shown = listing.view(&QueueFilter::default(), SortKey::Type, all);
        let names: Vec<&str> = shown.queues.iter().map(|row| &*row.name).collect();
        assert_eq!(names.join(" "), "a ab c b");
    }

    #[test]
    fn who_did_not_answer_is_named() {
        let listing = listing();
        let all = Page { number: 1, size: None };
        let text = listing.view(&QueueFilter::default(), SortKey::Name, all).to_text();
        assert!(text.ends_with("; 1 gave no answer: /a"), "{text}");
    }
}
