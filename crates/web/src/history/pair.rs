//! Two runs side by side: what differs in their configuration, their figures, their curves, and their profiles.

use std::io::{self, Write};

use rabbitscope_analysis::history::{ComparedMetric, DifferingKey, ONE_PAIR_CAUTION, RunPair};
use rabbitscope_text::grouped;

use super::curves::{ComparedRun, SIDES, curves};
use crate::{
    document::{
        Block, Cell, Column, Content, Document, Link, Measure, Section, Sentence, Table, Tone,
        relative_link,
    },
    page::diff::DiffReport,
    report::write_document_with,
};

/// Maximum number of differing keys.
const MAX_KEYS: usize = 200;

/// Maximum length of a value of the configuration, in characters.
const MAX_VALUE: usize = 300;

/// Two runs and their comparison.
#[derive(Clone, Copy, Debug)]
pub struct PairReport<'a> {
    /// The comparison.
    pub pair: &'a RunPair,
    /// The earlier run, and the later one.
    pub runs: [ComparedRun<'a>; 2],
    /// The comparison of their profiles, or the reason why there is none.
    pub profiles: Result<DiffReport<'a>, &'a str>,
    /// Address of the same page with both sides exchanged.
    pub exchanged: &'a str,
}

/// Writes the page.
pub fn write_pair(out: impl Write, report: PairReport<'_>) -> io::Result<()> {
    write_document_with(out, &document(&report), report.profiles.ok())
}

pub(super) fn document(report: &PairReport<'_>) -> Document {
    let [before, after] = &report.pair.names;
    let [one, other] = report.runs.map(|run| run.record.name.as_str());
    let title = if one == other { one.to_owned() } else { format!("{one} against {other}") };
    let curves = Block::new("curve-charts", Content::Charts(curves(report.runs)));
    Document {
        title: format!("{title}: two runs"),
        facts: vec![format!("before: {before}"), format!("after: {after}")],
        sections: vec![
            Section::new("pair", "", head(report)),
            configuration(&report.pair.differing),
            figures(&report.pair.metrics),
            Section::new("curves", "Curves", vec![curves]),
            profiles(report),
        ],
    }
}

/// Returns doubts, the limits of such a comparison, and links.
fn head(report: &PairReport<'_>) -> Vec<Block> {
    let doubts = SIDES.into_iter().zip(&report.pair.doubts).flat_map(|(side, doubts)| {
        let doubt = move |doubt: &String| {
            Sentence::new(format!("The run {side} is in doubt: {doubt}"), Tone::Warning)
        };
        doubts.iter().map(doubt)
    });
    let caution = format!("{ONE_PAIR_CAUTION} Rounds prove a change: rabbitscope compare.");
    let sentences = doubts.chain([Sentence::new(caution, Tone::Soft)]).collect();
    let reports = SIDES.into_iter().zip(report.runs).filter_map(|(side, run)| {
        let href = relative_link(run.report?);
        Some(Link { text: format!("Report {side}"), href })
    });
    let link = |text: &str, href: &str| Link { text: text.to_owned(), href: href.to_owned() };
    let links = reports.chain([link("Exchange both", report.exchanged), link("All runs", "./")]);
    vec![
        Block::sentences("pair-doubts", sentences),
        Block::new("pair-links", Content::Links { links: links.collect() }),
    ]
}

fn configuration(differing: &[DifferingKey]) -> Section {
    if differing.is_empty() {
        let same = Sentence::new("Scenario, broker and machine are the same.", Tone::Good);
        let block = Block::sentences("configuration-same", vec![same]);
        return Section::new("configuration", "Configuration", vec![block]);
    }
    let row = |differing: &DifferingKey| {
        let value = |value: &Option<String>| match value {
            Some(value) => Cell::code(shortened(value)),
            None => Cell::text("–"),
        };
        let [before, after] = &differing.values;
        vec![Cell::text(shortened(&differing.key)), value(before), value(after)]
    };
    let columns = vec![Column::text("differs"), Column::text("before"), Column::text("after")];
    let rows = differing.iter().take(MAX_KEYS).map(row).collect();
    let table = Table { label: "Configuration", columns, rows, ..Table::default() };
    let mut blocks = vec![Block::new("configuration-table", Content::Table(table))];
    let more = differing.len().saturating_sub(MAX_KEYS);
    if more > 0 {
        let text = format!("{} more keys differ.", grouped(more as u64));
        blocks.push(Block::sentences("configuration-rest", vec![Sentence::new(text, Tone::Note)]));
    }
    let intro = "Only what differs. Everything else of scenario, broker and machine is the same.";
    Section::new("configuration", "Configuration", blocks).explained(intro)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn figures(metrics: &[ComparedMetric]) -> Section {
    let row = |compared: &ComparedMetric| {
        let unit = Measure::from_metric(compared.unit);
        let [before, after] = compared.values.map(|value| Cell::figure(value, unit));
        vec![
            Cell::text(&compared.metric),
            before,
            after,
            Cell::figure(compared.ratio, Measure::Change),
        ]
    };
    let columns = vec![
        Column::text("figure"),
        Column::number("before"),
        Column::number("after"),
        Column::number("change"),
    ];
    let rows = metrics.iter().map(row).collect();
    let table = Table { label: "Figures", columns, rows, ..Table::default() };
    let intro = "Figures that both runs have, of their measured part.";
    let blocks = vec![Block::new("figures-table", Content::Table(table))];
    Section::new("figures", "Figures", blocks).explained(intro)
}

/// Returns the heading of the graph of changes, which follows the document; or the reason why there is none.
fn profiles(report: &PairReport<'_>) -> Section {
    let blocks = report
        .profiles
        .err()
        .map(|reason| Block::sentences("profiles-none", vec![Sentence::new(reason, Tone::Soft)]));
    Section::new("profiles", "Profiles", blocks.into_iter().collect())
}
