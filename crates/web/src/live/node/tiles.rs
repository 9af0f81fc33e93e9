//! The tiles of a second.

use rabbitscope_diagnosis::{MessageRates, Use};
use rabbitscope_runs::record::NodeFigures;
use rabbitscope_text::Unit;

use super::second::NodeSecond;
use crate::{
    document::{Block, Content},
    figures::{Detail, Figure},
};

/// Returns the tiles of a second. Figures that are absent have no tile.
pub(super) fn tiles(second: &NodeSecond) -> Block {
    let figures = [
        messages(&second.rates),
        queued(&second.figures),
        cpu(second),
        run_queue(&second.figures),
        memory(second),
        connections(&second.figures),
        descriptors(second),
    ];
    let figures = figures.into_iter().flatten().collect();
    Block::new("tiles", Content::Tiles { label: "The node now", figures })
}

fn figure(name: &str, meaning: &'static str, (value, unit): (f64, Unit)) -> Figure {
    Figure { name: name.to_owned(), meaning, value, unit, of: None, details: Vec::new() }
}

fn details<const N: usize>(known: [(&'static str, Option<f64>); N], unit: Unit) -> Vec<Detail> {
    let detail = |(name, value): (_, Option<f64>)| Some(Detail::new(name, value?, unit));
    known.into_iter().filter_map(detail).collect()
}

fn messages(rates: &MessageRates) -> Option<Figure> {
    let meaning = "Messages that clients published in this second.";
    let further = [
        ("confirmed", rates.confirmed),
        ("delivered", rates.delivered),
        ("acknowledged", rates.acknowledged),
    ];
    Some(Figure {
        details: details(further, Unit::PerSecond),
        ..figure("Published", meaning, (rates.published?, Unit::PerSecond))
    })
}

fn queued(figures: &NodeFigures) -> Option<Figure> {
    let (ready, unacknowledged) = (figures.ready?, figures.unacknowledged?);
    let meaning =
        "Messages in all queues of the node: ready, or delivered and not yet acknowledged.";
    let further = [("ready", Some(ready as f64)), ("unacknowledged", Some(unacknowledged as f64))];
    let all = ready.saturating_add(unacknowledged) as f64;
    Some(Figure {
        details: details(further, Unit::Things),
        ..figure("Messages in queues", meaning, (all, Unit::Things))
    })
}

fn cpu(second: &NodeSecond) -> Option<Figure> {
    let meaning =
        "CPU time of the node's process as the kernel counts it, of the cores that it may use.";
    let cores = second.cpu_cores?;
    // A second of the kernel's clock may have some more ticks than the second of the page.
    let of = second.allowed_cores.map(|allowed| allowed.max(cores));
    Some(Figure { of, ..figure("CPU", meaning, (cores, Unit::Cores)) })
}

fn run_queue(figures: &NodeFigures) -> Option<Figure> {
    let meaning = "Erlang processes and ports that wait for a scheduler at this moment.";
    let further = [("Erlang processes", figures.processes.map(|count| count as f64))];
    Some(Figure {
        details: details(further, Unit::Things),
        ..figure("Run queue", meaning, (figures.run_queue? as f64, Unit::Things))
    })
}

fn memory(second: &NodeSecond) -> Option<Figure> {
    let meaning = "Memory that the VM has allocated, of the amount at which the node raises its alarm. Without \
                   access to the node: resident memory of its process.";
    let resident = second.resident_bytes.map(|bytes| bytes as f64);
    let allocated = second.figures.memory.map(|bytes| bytes as f64);
    let limit = second.memory_limit_bytes.map(|bytes| bytes as f64);
    let value = allocated.or(resident)?;
    Some(Figure {
        of: limit.filter(|limit| allocated.is_some() && *limit >= value),
        details: details([("resident", resident.filter(|_| allocated.is_some()))], Unit::Bytes),
        ..figure("Memory", meaning, (value, Unit::Bytes))
    })
}

fn connections(figures: &NodeFigures) -> Option<Figure> {
    let count = |figure: Option<u64>| figure.map(|count| count as f64);
    let further = [
        ("channels", count(figures.channels)),
        ("consumers", count(figures.consumers)),
        ("in flow", count(figures.in_flow).filter(|count| *count > 0.0)),
    ];
    let value = (figures.connections? as f64, Unit::Things);
    Some(Figure {
        details: details(further, Unit::Things),
        ..figure("Connections", "Connections of clients with this node.", value)
    })
}

fn descriptors(second: &NodeSecond) -> Option<Figure> {
    let Use { used, limit } = second.descriptors?;
    let meaning = "Open files and sockets of the node's process, of its limit.";
    let of = (limit > 0).then(|| limit.max(used) as f64);
    Some(Figure { of, ..figure("Descriptors", meaning, (used as f64, Unit::Things)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(second: &NodeSecond) -> Vec<String> {
        let block = serde_json::to_value(tiles(second)).unwrap();
        let figures = block["figures"].as_array().unwrap().iter();
        figures.map(|figure| figure["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_node_that_is_seen_from_outside_only() {
        let second = NodeSecond {
            cpu_cores: Some(1.5),
            allowed_cores: Some(2.0),
            resident_bytes: Some(1 << 28),
            descriptors: Some(Use { used: 40, limit: 1024 }),
            ..NodeSecond::default()
        };
        assert_eq!(names(&second), ["CPU", "Memory", "Descriptors"]);
        let block = serde_json::to_value(tiles(&second)).unwrap();
        assert_eq!(block["figures"][0]["of"], 2.0);
        assert_eq!(block["figures"][1]["value"], f64::from(1 << 28));
    }

    #[test]
    fn a_node_that_answers() {
        let second = NodeSecond {
            rates: MessageRates { published: Some(10.0), ..MessageRates::default() },
            memory_limit_bytes: Some(100),
            resident_bytes: Some(80),
            figures: NodeFigures::from_answer(|_| Some(7)),
            ..NodeSecond::default()
        };
        let expected = ["Published", "Messages in queues", "Run queue", "Memory", "Connections"];
        assert_eq!(names(&second), expected);
        let block = serde_json::to_value(tiles(&second)).unwrap();
        assert_eq!(block["figures"][1]["value"], 14.0);
        assert_eq!(block["figures"][3]["of"], 100.0);
        assert_eq!(block["figures"][3]["details"][0]["value"], 80.0);
        assert!(names(&NodeSecond::default()).is_empty());
    }
}
