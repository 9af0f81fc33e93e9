//! Queues, from the agent's answer.

use rabbitscope_diagnosis::{QueueCase, QueueKind, Queues};
use rabbitscope_erlang::Term;

use super::fields::Fields;

/// Reads the rows, the longest queue first.
pub(super) fn queues(answer: Fields<'_>, seconds: f64) -> Option<Queues> {
    let figures = Fields(answer.term("queues")?);
    let is_written = figures.is_true("is_written");
    let mut rows: Vec<QueueCase> =
        figures.rows("rows").filter_map(|row| queue(row, seconds, is_written)).collect();
    rows.sort_by(|one, other| {
        (other.ready, &one.vhost, &one.name).cmp(&(one.ready, &other.vhost, &other.name))
    });
    let mut leaders: Vec<(String, u64)> =
        answer.list("leaders").iter().filter_map(leaders_of).collect();
    leaders.sort();
    Some(Queues {
        count: figures.number("count")?,
        ready: figures.number("ready")?,
        unacknowledged: figures.number("unacknowledged")?,
        leaders,
        rows,
        // Tables know nothing of them.
        silent: Vec::new(),
    })
}

fn leaders_of(term: &Term) -> Option<(String, u64)> {
    let [node, count] = term.as_tuple()? else { return None };
    Some((node.as_atom()?.to_owned(), count.as_u64()?))
}

fn queue(row: Fields<'_>, seconds: f64, is_written: bool) -> Option<QueueCase> {
    let (kind, is_durable) = row.term("record").and_then(record).unwrap_or_default();
    let ready = row.number("ready")?;
    let consumers = row.number("consumers")?;
    // Published, confirmed, delivered, acknowledged, got, got nothing.
    let sums = row.rates("sums", seconds);
    let rate = |index: usize| sums.as_ref()?.get(index).copied();
    let growth = ready as f64 - row.float("ready_before").unwrap_or_default();
    Some(QueueCase {
        vhost: row.text("vhost"),
        name: row.text("name"),
        kind,
        pid: row.pid("pid"),
        ready,
        ready_growth: if is_written { growth / seconds } else { 0.0 },
        unacknowledged: row.number("unacknowledged").unwrap_or_default(),
        consumers,
        permitted: row.number("permitted").filter(|limit| *limit > 0),
        consumer_capacity: row.float("capacity").filter(|_| consumers > 0),
        published_per_second: rate(0),
        delivered_per_second: rate(2),
        acknowledged_per_second: rate(3),
        classic_version: row.number("version").filter(|_| kind == QueueKind::Classic),
        is_durable,
    })
}

fn record(term: &Term) -> Option<(QueueKind, bool)> {
    let [module, is_durable] = term.as_tuple()? else { return None };
    let kind = match module.as_atom()? {
        "rabbit_classic_queue" => QueueKind::Classic,
        "rabbit_quorum_queue" => QueueKind::Quorum,
        "rabbit_stream_queue" => QueueKind::Stream,
        _ => QueueKind::Other,
    };
    Some((kind, is_durable.is_atom("true")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ready: i64, sums: Term) -> Term {
        Term::map([
            ("vhost", Term::text("/")),
            ("name", Term::text(name)),
            ("pid", Term::atom("none")),
            ("ready", ready.into()),
            ("ready_before", 10.into()),
            ("unacknowledged", 3.into()),
            ("consumers", 0.into()),
            ("capacity", 0.into()),
            ("version", 2.into()),
            ("sums", sums),
            ("record", Term::tuple([Term::atom("rabbit_classic_queue"), true.into()])),
        ])
    }

    #[test]
    fn the_longest_is_first_and_unknown_figures_are_absent() {
        let sums = Term::list([40, 0, 20, 10, 0, 0].map(Term::from));
        let figures = Term::map([
            ("count", 2.into()),
            ("ready", 50.into()),
            ("unacknowledged", 6.into()),
            ("is_written", true.into()),
            ("rows", Term::list([row("short", 0, Term::atom("unknown")), row("long", 50, sums)])),
        ]);
        let leaders = Term::list([Term::tuple([Term::atom("a@b"), 2.into()])]);
        let answer = Term::map([("queues", figures), ("leaders", leaders)]);
        let queues = queues(Fields(&answer), 10.0).unwrap();
        let [long, short] = &queues.rows[..] else { panic!("{queues:?}") };
        assert_eq!((long.name.as_str(), long.ready_growth), ("long", 4.0));
        assert_eq!(
            (long.published_per_second, long.acknowledged_per_second),
            (Some(4.0), Some(1.0))
        );
        assert_eq!(
            (long.kind, long.is_durable, long.classic_version),
            (QueueKind::Classic, true, Some(2))
        );
        assert_eq!((short.published_per_second, short.consumer_capacity), (None, None));
        assert_eq!((short.pid.as_str(), short.ready_growth), ("", -1.0));
        assert_eq!(queues.leaders, [("a@b".to_owned(), 2)]);
    }
}
