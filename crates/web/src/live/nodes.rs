//! The live page of all nodes that `watch` records: a row for each, from its latest window.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rabbitscope_diagnosis::{Brief, LimitKind, Severity};
use rabbitscope_text::{Unit, counted};

use super::{
    LiveHead, LivePage, Tick,
    rows::{Rows, cores, count, name, single},
};
use crate::document::{
    Axis, Block, Cell, Chart, Charts, Column, Content, Document, Hue, Mark, Section, Sentence, Tone,
};

const TITLE: &str = "Nodes of this machine";

/// Number of moments in the chart: half an hour in windows of ten seconds.
const MOST_MOMENTS: usize = 180;

/// The latest window of a node, and its judgement.
#[derive(Clone, Debug)]
pub struct WatchedNode {
    /// Erlang name of the node.
    pub node: String,
    /// Version of RabbitMQ; empty if unknown.
    pub version: String,
    /// Start and end of the window, such as `04:00:00 to 04:00:10 UTC`.
    pub window: String,
    /// CPU time in the window, in cores.
    pub cores: f64,
    /// Number of CPU samples in the window.
    pub samples: u64,
    /// The limit and the findings of the window.
    pub brief: Brief,
}

/// The nodes as the page has them, by pid.
#[derive(Default)]
pub struct LiveNodes {
    latest: BTreeMap<u32, WatchedNode>,
    /// Time since the page began in nanoseconds, and the cores of each node.
    past: VecDeque<(u64, BTreeMap<String, f64>)>,
}

impl LiveNodes {
    /// Returns the shell of the page.
    pub fn page() -> LivePage {
        LivePage { title: TITLE.to_owned(), profile: true }
    }

    /// Returns the blocks before the first window. `facts` stand below the title.
    pub fn head(facts: Vec<String>) -> LiveHead {
        let nodes = Self::default();
        let [table, more] = nodes.table();
        let stacks = Block::new("stacks", Content::Stacks);
        let sections = vec![
            Section::new("now", "", vec![nodes.state(), nodes.limit(), table, more]),
            Section::new("profile", "CPU time of all nodes by stack", vec![stacks]),
            Section::new("time", "Over time", vec![nodes.chart()]),
        ];
        LiveHead(Document { title: TITLE.to_owned(), facts, sections })
    }

    /// Puts a node's window in the place of the one before.
    pub fn set(&mut self, pid: u32, node: WatchedNode) {
        self.latest.insert(pid, node);
    }

    /// Keeps these nodes only. Returns whether one has gone.
    pub fn retain(&mut self, is_recorded: impl Fn(u32) -> bool) -> bool {
        let before = self.latest.len();
        self.latest.retain(|&pid, _| is_recorded(pid));
        self.latest.len() < before
    }

    /// Adds the moment to the chart, and replaces all blocks.
    pub fn write(&mut self, tick: &mut Tick, since_begin_nanos: u64) {
        let cores = self.latest.values().map(|node| (node.node.clone(), node.cores));
        self.past.push_back((since_begin_nanos, cores.collect()));
        if self.past.len() > MOST_MOMENTS {
            self.past.pop_front();
        }
        let [table, more] = self.table();
        for block in [self.state(), table, more, self.limit(), self.chart()] {
            tick.replace(block);
        }
    }

    fn state(&self) -> Block {
        let text = match self.latest.len() as u64 {
            0 => "No node has a window yet.".to_owned(),
            nodes => format!("{}, each by its latest window.", counted(nodes, "node")),
        };
        Block::sentences("state", vec![Sentence::new(text, Tone::Soft)])
    }

    /// Returns the nodes, the one with the worst finding first, then those with a limit, then by CPU time.
    fn sorted(&self) -> Vec<&WatchedNode> {
        let mut all: Vec<&WatchedNode> = self.latest.values().collect();
        all.sort_by(|one, other| {
            let rank = |node: &WatchedNode| (worst(&node.brief), has_limit(&node.brief));
            rank(other).cmp(&rank(one)).then(other.cores.total_cmp(&one.cores))
        });
        all
    }

    fn table(&self) -> [Block; 2] {
        let sorted = self.sorted();
        let rows = Rows {
            id: "nodes",
            noun: "node",
            columns: vec![
                Column::text("node"),
                Column::text("limit").meaning("What limited the node in its latest window"),
                Column::text("first finding").meaning("The most rewarding one at warning level"),
                Column::number("CPU").meaning("CPU time in the window, by samples"),
                Column::number("samples"),
                Column::text("window"),
            ],
        };
        let cells = sorted.iter().map(|node| cells(node)).collect();
        rows.filled("Recorded nodes", cells, sorted.len() as u64)
    }

    /// Returns the limit and the findings of the first node of the table.
    fn limit(&self) -> Block {
        let first = self.sorted().first().copied();
        let note = first.map_or_else(
            || "No window has ended.".to_owned(),
            |node| format!("of {}, {}", single(&node.node), node.window),
        );
        let brief = first.map(|node| node.brief.clone());
        Block::new("limit", Content::Limit { note, brief })
    }

    fn chart(&self) -> Block {
        let names: BTreeSet<&String> =
            self.past.iter().flat_map(|(_, cores)| cores.keys()).collect();
        let busiest = |node: &&String| {
            self.past
                .iter()
                .filter_map(|(_, cores)| cores.get(*node))
                .fold(0.0, |most: f64, value| most.max(*value))
        };
        let mut names: Vec<&String> = names.into_iter().collect();
        names.sort_by(|one, other| busiest(other).total_cmp(&busiest(one)));
        let more = names.len().saturating_sub(Hue::SERIES);
        names.truncate(Hue::SERIES);
        // A node keeps its colour while the set of lines is the same.
        names.sort_unstable();
        let line = |(number, node): (usize, &&String)| {
            let x = self.past.iter().map(|(at, _)| *at as f64);
            let y = self.past.iter().map(|(_, cores)| cores.get(*node).copied()).collect();
            Mark::line(single(node), Hue::series(number), x, y)
        };
        let note = match more as u64 {
            0 => String::new(),
            more => format!(
                "{} with less CPU time {} no line.",
                counted(more, "node"),
                if more == 1 { "has" } else { "have" }
            ),
        };
        let chart = Chart {
            title: "CPU time of each node, cores".to_owned(),
            note,
            x: Axis::linear(Unit::Nanos).label("since the page began").from(0.0),
            y: Axis::linear(Unit::Cores).from(0.0),
            marks: names.iter().enumerate().map(line).collect(),
        };
        Block::new("charts", Content::Charts(Charts { charts: vec![chart], shared: Vec::new() }))
    }
}

fn worst(brief: &Brief) -> Option<Severity> {
    brief.findings.iter().map(|finding| finding.severity).max()
}

fn has_limit(brief: &Brief) -> bool {
    !matches!(brief.kind, LimitKind::Unknown | LimitKind::Nothing)
}

fn cells(node: &WatchedNode) -> Vec<Cell> {
    let finding = node.brief.findings.first();
    let shown = finding.map_or_else(
        || Cell::text("none").tone(Tone::Soft),
        |finding| Cell::text(finding.sentence.clone()).tone(tone(finding.severity)),
    );
    vec![
        name(&node.node).small(single(&node.version)),
        Cell::text(node.brief.limit.clone()),
        shown,
        cores(Some(node.cores)),
        count(node.samples),
        Cell::text(node.window.clone()),
    ]
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Critical => Tone::Bad,
        Severity::Warning => Tone::Warning,
        Severity::Note => Tone::Note,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rabbitscope_diagnosis::{Case, CheckReport, Finding, Subject};
    use serde_json::Value;

    use super::*;

    fn node(name: &str, cores: f64, severity: Option<Severity>) -> WatchedNode {
        let subject = Subject { duration: Duration::from_secs(10), ..Subject::default() };
        let mut report = CheckReport::from_case(&Case::unread(subject));
        report.findings = severity
            .into_iter()
            .map(|severity| Finding {
                rule: "rule".to_owned(),
                severity,
                subjects: Vec::new(),
                subjects_in_all: 0,
                sentence: format!("a finding of {name}"),
                evidence: Vec::new(),
                change: None,
                bound: None,
                experiment: None,
            })
            .collect();
        WatchedNode {
            node: name.to_owned(),
            version: "4.0.5".to_owned(),
            window: "04:00:00 to 04:00:10 UTC".to_owned(),
            cores,
            samples: 190,
            brief: Brief::from_report(&report),
        }
    }

    fn written(nodes: &mut LiveNodes) -> BTreeMap<String, Value> {
        let mut tick = Tick::new(7);
        nodes.write(&mut tick, 5);
        let tick: Value = serde_json::from_str(&tick.to_json()).unwrap();
        let blocks = tick["replace"].as_array().unwrap().iter();
        blocks.map(|block| (block["id"].as_str().unwrap().to_owned(), block.clone())).collect()
    }

    #[test]
    fn the_head_has_the_place_of_every_change() {
        let head: Value = serde_json::from_str(&LiveNodes::head(Vec::new()).to_json()).unwrap();
        let sections = head["sections"].as_array().unwrap().iter();
        let blocks = sections.flat_map(|section| section["blocks"].as_array().unwrap());
        let places: BTreeSet<&str> = blocks.map(|block| block["id"].as_str().unwrap()).collect();
        let written = written(&mut LiveNodes::default());
        let changed = written.keys().map(String::as_str).chain(["stacks"]).collect();
        assert_eq!(places, changed);
    }

    #[test]
    fn the_worst_node_is_first_and_names_stay_texts() {
        let mut nodes = LiveNodes::default();
        nodes.set(1, node("rabbit@busy", 3.0, None));
        nodes.set(2, node("rabbit@<b>\u{202e}", 0.1, Some(Severity::Warning)));
        nodes.set(3, node("rabbit@idle", 0.0, None));
        let blocks = written(&mut nodes);
        let rows = blocks["nodes"]["rows"].as_array().unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row[0]["text"].as_str().unwrap()).collect();
        assert_eq!(names, ["rabbit@<b>\\u{202e}", "rabbit@busy", "rabbit@idle"]);
        assert_eq!(rows[0][2]["tone"], "warning");
        assert!(
            blocks["limit"]["note"]
                .as_str()
                .unwrap()
                .starts_with("of rabbit@<b>\\u{202e}, 04:00:00")
        );
        let marks = blocks["charts"]["charts"][0]["marks"].as_array().unwrap();
        assert_eq!(marks.len(), 3, "{marks:?}");
        assert!(nodes.retain(|pid| pid != 2));
        assert!(!nodes.retain(|pid| pid != 2));
        assert_eq!(written(&mut nodes)["nodes"]["rows"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn the_chart_is_bounded() {
        let mut nodes = LiveNodes::default();
        for pid in 0..12 {
            nodes.set(pid, node(&format!("rabbit{pid}@host"), f64::from(pid), None));
        }
        for _ in 0..MOST_MOMENTS {
            written(&mut nodes);
        }
        let chart = written(&mut nodes)["charts"]["charts"][0].clone();
        assert_eq!(chart["marks"].as_array().unwrap().len(), Hue::SERIES);
        assert_eq!(chart["marks"][0]["x"].as_array().unwrap().len(), MOST_MOMENTS);
        assert_eq!(chart["note"], "4 nodes with less CPU time have no line.");
        assert_eq!(chart["marks"][0]["name"], "rabbit10@host", "the busiest eight, by name");
    }
}
