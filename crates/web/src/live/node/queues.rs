//! The table of queues.

use std::collections::{HashMap, HashSet};

use rabbitscope_diagnosis::{Case, Cost, Costs, QueueCase, QueueKind, queue_title};
use rabbitscope_text::Unit;

use crate::document::{Block, Cell, Column};
use crate::live::rows::{Rows, cores, name, rate};

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
    let costs: &[Cost] = costs.map_or(&[], |costs| &costs.queues);
    let by_name: HashMap<&str, &Cost> = costs.iter().map(|cost| (&*cost.name, cost)).collect();
    let listed = queues.rows.iter().map(|queue| {
        let title = queue_title(queue);
        Row { cost: by_name.get(title.as_str()).copied(), title, queue: Some(queue) }
    });
    let mut sorted: Vec<Row<'_>> = listed.collect();
    let titles: HashSet<String> = sorted.iter().map(|row| row.title.clone()).collect();
    // The node sends a part of many queues, and knows no CPU time: without rates it leaves out busy ones.
    let unlisted = costs.iter().filter(|cost| !titles.contains(&cost.name));
    sorted.extend(unlisted.map(|cost| Row {
        title: cost.name.clone(),
        queue: None,
        cost: Some(cost),
    }));
    // The sort is stable: among equal ones the longest stays first.
    sorted.sort_by(|one, other| {
        let by_activity = other.activity().total_cmp(&one.activity());
        by_activity.then(other.used().total_cmp(&one.used()))
    });
    let count = queues.count.max(sorted.len() as u64);
    rows().filled(LABEL, sorted.iter().map(Row::cells).collect(), count)
}

/// A queue with its figures from the node, its CPU time, or both.
struct Row<'a> {
    title: String,
    queue: Option<&'a QueueCase>,
    cost: Option<&'a Cost>,
}

impl Row<'_> {
    /// Returns its messages per second, in and out.
    fn activity(&self) -> f64 {
        let rates =
            self.queue.map(|queue| [queue.published_per_second, queue.delivered_per_second]);
        rates.into_iter().flatten().flatten().filter(|rate| rate.is_finite()).sum()
    }

    fn used(&self) -> f64 {
        self.cost.map_or(0.0, |cost| cost.cores)
    }

    fn cells(&self) -> Vec<Cell> {
        let things = |figure: fn(&QueueCase) -> u64| {
            Cell::known(self.queue.map(|queue| figure(queue) as f64), Unit::Things)
        };
        let per_second = |figure: fn(&QueueCase) -> Option<f64>| rate(self.queue.and_then(figure));
        let of_queue = cores(self.cost.map(|cost| cost.cores));
        let shared = self.cost.map_or(0.0, |cost| cost.shared);
        vec![
            name(&self.title),
            Cell::text(self.queue.map_or("–", |queue| kind(queue.kind))),
            things(|queue| queue.ready),
            things(|queue| queue.unacknowledged),
            per_second(|queue| queue.published_per_second),
            per_second(|queue| queue.delivered_per_second),
            per_second(|queue| queue.acknowledged_per_second),
            things(|queue| queue.consumers),
            Cell::known(self.queue.and_then(|queue| queue.consumer_capacity), Unit::Share),
            if shared > 0.0 { of_queue.meaning(format!("{shared:.2} shared")) } else { of_queue },
        ]
    }
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
        let cost = |name: &str, cores| Cost { name: name.to_owned(), cores, shared: 0.0 };
        let queues = vec![cost("left out", 0.7), cost("b", 0.5)];
        let costs = Costs { queues, ..Costs::default() };
        let [table, _] = filled(&case, Some(&costs));
        let rows = serde_json::to_value(table).unwrap()["rows"].clone();
        let name = |row: usize| rows[row][0]["text"].as_str().unwrap().to_owned();
        assert_eq!([0, 1, 2, 3].map(name), ["left out", "b", "a", "c"]);
        assert_eq!((&rows[0][2]["text"], &rows[1][2]["value"]), (&"–".into(), &0.0.into()));
    }

    #[test]
    fn a_node_that_was_not_asked_has_no_rows() {
        let [table, _] = filled(&Case::unread(Subject::default()), None);
        assert!(serde_json::to_value(table).unwrap()["rows"].as_array().unwrap().is_empty());
    }
}
