//! The table of queues.

use std::collections::HashMap;

use rabbitscope_diagnosis::{Case, Cost, Costs, QueueCase, QueueKind, queue_title};
use rabbitscope_text::Unit;

use super::rows::{Rows, cores, count, name, rate};
use crate::document::{Block, Cell, Column};

const LABEL: &str = "Queues of the node";

fn rows() -> Rows {
    Rows {
        id: "queues",
        noun: "queue",
        columns: vec![
            Column::text("queue"),
            Column::text("type"),
            Column::number("ready").meaning("Messages ready for delivery"),
            Column::number("unacknowledged"),
            Column::number("in").meaning("Messages published into it"),
            Column::number("out").meaning("Messages delivered or got"),
            Column::number("acknowledged"),
            Column::number("consumers"),
            Column::number("capacity")
                .meaning("Share of the time in which a consumer could take a message at once"),
            Column::number("CPU").meaning(
                "CPU time of the queue's processes, and its part of logs and message stores, in cores",
            ),
        ],
    }
}

/// Returns the table without queues.
pub(super) fn empty() -> [Block; 2] {
    rows().empty(LABEL)
}

/// Returns the table, the queues with the most messages a second first; without rates, those with the most CPU time.
/// Empty if the node was not asked.
pub(super) fn filled(case: &Case, costs: Option<&Costs>) -> [Block; 2] {
    let Ok(queues) = &case.queues else { return empty() };
    let costs: HashMap<&str, &Cost> =
        costs.iter().flat_map(|costs| &costs.queues).map(|cost| (&*cost.name, cost)).collect();
    let with_cost = |queue| {
        let title = queue_title(queue);
        let cost = costs.get(title.as_str()).copied();
        (queue, title, cost)
    };
    let mut sorted: Vec<(&QueueCase, String, Option<&Cost>)> =
        queues.rows.iter().map(with_cost).collect();
    let used = |cost: Option<&Cost>| cost.map_or(0.0, |cost| cost.cores);
    // The sort is stable: among equal ones the longest stays first.
    sorted.sort_by(|one, other| {
        let by_activity = activity(other.0).total_cmp(&activity(one.0));
        by_activity.then(used(other.2).total_cmp(&used(one.2)))
    });
    let cells = sorted.into_iter().map(|(queue, title, cost)| cells(queue, &title, cost)).collect();
    rows().filled(LABEL, cells, queues.count.max(queues.rows.len() as u64))
}

/// Returns its messages per second, in and out.
fn activity(queue: &QueueCase) -> f64 {
    let rates = [queue.published_per_second, queue.delivered_per_second];
    rates.into_iter().flatten().filter(|rate| rate.is_finite()).sum()
}

fn cells(queue: &QueueCase, title: &str, cost: Option<&Cost>) -> Vec<Cell> {
    let of_queue = cores(cost.map(|cost| cost.cores));
    let shared = cost.map_or(0.0, |cost| cost.shared);
    vec![
        name(title),
        Cell::text(kind(queue.kind)),
        count(queue.ready),
        count(queue.unacknowledged),
        rate(queue.published_per_second),
        rate(queue.delivered_per_second),
        rate(queue.acknowledged_per_second),
        count(queue.consumers),
        Cell::known(queue.consumer_capacity, Unit::Share),
        if shared > 0.0 { of_queue.meaning(format!("{shared:.2} shared")) } else { of_queue },
    ]
}

fn kind(kind: QueueKind) -> &'static str {
    match kind {
        QueueKind::Classic => "classic",
        QueueKind::Quorum => "quorum",
        QueueKind::Stream => "stream",
        QueueKind::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_diagnosis::{Queues, Subject};

    use super::*;

    fn queue(name: &str, published: f64) -> QueueCase {
        QueueCase {
            name: name.to_owned(),
            vhost: "/".to_owned(),
            published_per_second: Some(published),
            ..QueueCase::default()
        }
    }

    #[test]
    fn the_busiest_queue_is_first_and_has_its_cost() {
        let mut case = Case::unread(Subject::default());
        let rows = vec![queue("long", 0.0), queue("<b>\n", 5.0), queue("busy", 900.0)];
        case.queues = Ok(Queues { count: 200, rows, ..Queues::default() });
        let cost = Cost { name: "busy".to_owned(), cores: 0.5, shared: 0.2 };
        let costs = Costs { queues: vec![cost], ..Costs::default() };
        let [table, more] =
            filled(&case, Some(&costs)).map(|block| serde_json::to_value(block).unwrap());
        let rows = table["rows"].as_array().unwrap().iter();
        let names: Vec<_> = rows.map(|row| &row[0]["text"]).collect();
        assert_eq!(names, ["busy", "<b>\\n", "long"]);
        let cpu = &table["rows"][0][9];
        assert_eq!((&cpu["value"], &cpu["meaning"]), (&0.5.into(), &"0.20 shared".into()));
        assert_eq!(table["rows"][1][9]["text"], "–");
        assert_eq!(more["sentences"][0]["text"], "… and 197 more queues");
        let columns = table["columns"].as_array().unwrap().len();
        assert_eq!(table["rows"][0].as_array().unwrap().len(), columns);
    }

    #[test]
    fn without_rates_the_most_expensive_queue_is_first() {
        let mut case = Case::unread(Subject::default());
        let unmeasured = |name| QueueCase { published_per_second: None, ..queue(name, 0.0) };
        case.queues = Ok(Queues {
            rows: vec![unmeasured("a"), unmeasured("b"), unmeasured("c")],
            ..Queues::default()
        });
        let cost = Cost { name: "b".to_owned(), cores: 0.5, shared: 0.0 };
        let costs = Costs { queues: vec![cost], ..Costs::default() };
        let [table, _] = filled(&case, Some(&costs));
        let rows = serde_json::to_value(table).unwrap()["rows"].clone();
        let names = [0, 1, 2].map(|row: usize| rows[row][0]["text"].as_str().unwrap().to_owned());
        assert_eq!(names, ["b", "a", "c"]);
    }

    #[test]
    fn a_node_that_was_not_asked_has_no_rows() {
        let [table, _] = filled(&Case::unread(Subject::default()), None);
        assert!(serde_json::to_value(table).unwrap()["rows"].as_array().unwrap().is_empty());
    }
}
