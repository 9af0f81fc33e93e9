//! Messages of queues on a broker that keeps no statistics: its tables are empty, so the queues are asked themselves.

use std::time::{Duration, Instant};

use rabbitscope_diagnosis::{Part, QueueCase, QueueKind, Queues, Source, Unread};
use rabbitscope_erlang::{Connection, ErlangError, Term};
use rabbitscope_inside::{Listing, MissingReason, QueueFilter, QueueReader, QueueRow};

use crate::refusal::from_text;

/// Number of queues up to which each is asked.
const MAX_ASKED: usize = 500;

/// Time for their answers.
const WITHIN: Duration = Duration::from_secs(1);

/// Timeout of a request to the node itself.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Rows of queues in a case.
const MAX_ROWS: usize = 60;

/// Returns whether the broker keeps no statistics. An unknown setting counts as kept.
pub(super) fn are_wanted(connection: &Connection) -> bool {
    let arguments = vec![Term::atom("rabbit"), Term::atom("collect_statistics")];
    let answer = connection.call("application", "get_env", arguments, TIMEOUT);
    let is_none = |answer: &Term| match answer.as_tuple() {
        Some([_, value]) => value.is_atom("none"),
        _ => true,
    };
    answer.as_ref().is_ok_and(is_none)
}

/// Messages of all queues at a time.
#[derive(Debug)]
pub(super) struct Depths {
    at: Instant,
    listing: Listing,
}

impl Depths {
    /// Asks the queues, unless there are too many. A queue that does not answer in time is left out.
    pub(super) fn read(connection: &Connection) -> Result<Self, Unread> {
        let failed = |error: ErlangError| from_text(Source::Node, &error.to_string());
        let mut reader = QueueReader::new(connection).map_err(failed)?;
        let filter = QueueFilter::default();
        // The tables have the number of queues without asking any.
        if reader.read_tables(&filter).map_err(failed)?.rows.len() > MAX_ASKED {
            return Err(too_many());
        }
        let listing = reader.ask_queues(&filter, WITHIN).map_err(failed)?;
        reader.end().map_err(failed)?;
        Ok(Self { at: Instant::now(), listing })
    }
}

fn too_many() -> Unread {
    let reason = "the broker keeps no statistics, and has too many queues to ask each";
    let remedy = "enable rabbitmq_management_agent or rabbitmq_management";
    Unread { source: Source::Node, reason: reason.into(), remedy: remedy.into() }
}

/// Puts the answers into the part, the longest queue first. Without answers the part is unread: empty tables would look
/// like empty queues.
pub(super) fn fill(
    queues: &mut Part<Queues>,
    before: Result<Depths, Unread>,
    after: Result<Depths, Unread>,
) {
    let Ok(part) = queues else { return };
    match (before, after) {
        (Ok(before), Ok(after)) => fill_part(part, &before, &after),
        (Err(reason), _) | (_, Err(reason)) => *queues = Err(reason),
    }
}

fn fill_part(part: &mut Queues, before: &Depths, after: &Depths) {
    let seconds = (after.at - before.at).as_secs_f64().max(f64::MIN_POSITIVE);
    let known = std::mem::take(&mut part.rows);
    let is_silent = |row: &&QueueRow| row.missing == Some(MissingReason::NoAnswer);
    part.silent =
        after.listing.rows.iter().filter(is_silent).map(|row| row.name.to_string()).collect();
    let own = after.listing.rows.iter().filter(|row| row.ready.is_some());
    let mut rows: Vec<QueueCase> = own
        .map(|row| {
            let earlier = before.listing.rows.iter().find(|other| is_same(row, other));
            let was = earlier.and_then(|row| row.ready).unwrap_or_default();
            queue(row, was, seconds, &known)
        })
        .collect();
    rows.sort_by(|one, other| other.ready.cmp(&one.ready).then_with(|| one.name.cmp(&other.name)));
    part.ready = rows.iter().map(|row| row.ready).sum();
    part.unacknowledged = rows.iter().map(|row| row.unacknowledged).sum();
    rows.truncate(MAX_ROWS);
    part.rows = rows;
}

fn is_same(one: &QueueRow, other: &QueueRow) -> bool {
    (&one.vhost, &one.name) == (&other.vhost, &other.name)
}

fn queue(row: &QueueRow, was: u64, seconds: f64, known: &[QueueCase]) -> QueueCase {
    let is_known = |queue: &&QueueCase| *queue.vhost == *row.vhost && *queue.name == *row.name;
    let ready = row.ready.unwrap_or_default();
    let kind = match &*row.kind {
        "classic" => QueueKind::Classic,
        "quorum" => QueueKind::Quorum,
        "stream" => QueueKind::Stream,
        _ => QueueKind::Other,
    };
    QueueCase {
        vhost: row.vhost.to_string(),
        name: row.name.to_string(),
        kind,
        ready,
        ready_growth: (ready as f64 - was as f64) / seconds,
        unacknowledged: row.unacknowledged.unwrap_or_default(),
        consumers: row.consumers.unwrap_or_default(),
        ..known.iter().find(is_known).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_inside::QueueRow;

    use super::*;

    fn row(ready: u64) -> QueueRow {
        QueueRow {
            name: "orders".into(),
            vhost: "/".into(),
            kind: "quorum".into(),
            node: "a@b".into(),
            state: None,
            ready: Some(ready),
            unacknowledged: Some(7),
            consumers: Some(2),
            memory_bytes: None,
            missing: None,
        }
    }

    #[test]
    fn a_queue_has_its_own_answer_and_the_pid_of_the_table() {
        let known = QueueCase {
            vhost: "/".to_owned(),
            name: "orders".to_owned(),
            pid: "<0.5.0>".to_owned(),
            ..QueueCase::default()
        };
        let queue = queue(&row(300), 100, 10.0, &[known]);
        assert_eq!((queue.ready, queue.ready_growth, queue.unacknowledged), (300, 20.0, 7));
        assert_eq!((queue.pid.as_str(), queue.kind), ("<0.5.0>", QueueKind::Quorum));
    }
}
