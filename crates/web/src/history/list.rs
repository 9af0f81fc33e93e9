//! The list: a part that the reader asked for, the trends of its runs, and their lasting changes.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    io::{self, Write},
    time::Duration,
};

use rabbitscope_analysis::history::{
    Change, Contents, Entry, Figure, Filter, Listing, MIN_RUNS, Outcome, Trend, trends,
};
use rabbitscope_text::{Unit, counted, display_utc, grouped};

use super::{links::page_of, trend::charts};
use crate::{
    document::{
        Block, Cell, Charts, Choice, Column, Content, Document, Field, Form, Section, Sentence,
        Table, Tone,
    },
    report::write_document,
};

/// Maximum number of rows. The search reaches all runs.
const MAX_ROWS: usize = 2000;

/// Maximum number of lasting changes in words.
const MAX_CHANGES: usize = 12;

/// Maximum number of names in a choice.
const MAX_OPTIONS: usize = 200;

/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 90;

/// Length of a time up to its minute.
const MINUTE: usize = "2026-11-20 13:05".len();

/// The request of the reader.
#[derive(Clone, Debug)]
pub struct HistoryQuery {
    /// The part of the list.
    pub filter: Filter,
    /// The figure of the trends.
    pub figure: Figure,
}

/// Writes the page of the list.
pub fn write_history(out: impl Write, listing: &Listing, query: &HistoryQuery) -> io::Result<()> {
    write_document(out, &document(listing, query))
}

pub(super) fn document(listing: &Listing, query: &HistoryQuery) -> Document {
    let all = &listing.entries;
    let shown: Vec<&Entry> = all.iter().filter(|entry| query.filter.takes(entry)).collect();
    let sections = [
        Some(Section::new("search", "", vec![form(all, query)])),
        trend(&shown, query.figure),
        changes(&shown),
        Some(list(&shown)),
    ];
    let [part, whole] = [shown.len(), all.len()].map(|count| grouped(count as u64));
    let facts = vec![format!("{part} of {whole} runs and experiments")];
    let left_out = (listing.left_out > 0)
        .then(|| format!("{} not looked into", counted(listing.left_out as u64, "folder")));
    Document {
        title: "Runs and experiments".to_owned(),
        facts: facts.into_iter().chain(left_out).collect(),
        sections: sections.into_iter().flatten().collect(),
    }
}

/// Returns the trends of the scenarios with the newest runs.
fn trend(shown: &[&Entry], figure: Figure) -> Option<Section> {
    let charts = charts(shown, figure);
    (!charts.is_empty()).then_some(())?;
    let intro = "Completed runs, oldest first; hollow: in doubt. A click on a point opens its report. Runs of one \
                 scenario, broker and machine are compared.";
    let charts = Charts { charts, ..Charts::default() };
    let block = Block::new("trend-charts", Content::Charts(charts));
    Some(Section::new("trend", "Trend", vec![block]).explained(intro))
}

/// Returns the lasting changes of all figures, the newest first.
fn changes(shown: &[&Entry]) -> Option<Section> {
    let trends = Figure::ALL.map(|figure| trends(shown.iter().copied(), figure));
    let mut found: Vec<_> = trends.iter().flatten().flat_map(changes_of).collect();
    found.sort_by_key(|(started, _)| Reverse(*started));
    let more = found.len().saturating_sub(MAX_CHANGES);
    let more = (more > 0).then(|| Sentence::new(format!("{more} older changes."), Tone::Soft));
    let sentences: Vec<_> = found.into_iter().take(MAX_CHANGES).map(|(_, text)| text).collect();
    (!sentences.is_empty()).then_some(())?;
    let sentences = sentences.into_iter().map(|text| Sentence::new(text, Tone::Note)).chain(more);
    let intro = format!("A change has {MIN_RUNS} runs or more on both sides.");
    let block = Block::sentences("change-sentences", sentences.collect());
    Some(Section::new("changes", "Lasting changes", vec![block]).explained(intro))
}

/// Returns the changes of a trend with their times, as sentences.
fn changes_of(trend: &Trend<'_>) -> Vec<(u64, String)> {
    let text = |change: &Change<'_>| {
        let when = display_utc(Duration::from_nanos(change.started_unix_nanos));
        let [before, after] =
            [change.before, change.after].map(|value| trend.figure.display(value));
        let percent = (change.after / change.before - 1.0) * 100.0;
        let (name, figure, path) = (trend.name, trend.figure.name(), change.path);
        format!("{name}, {figure}: {before} → {after} ({percent:+.1} %) since {when} ({path})")
    };
    trend.changes.iter().map(|change| (change.started_unix_nanos, text(change))).collect()
}

fn list(shown: &[&Entry]) -> Section {
    let mut columns = vec![
        Column::text("run"),
        // Figures stay on one line.
        Column::number("start, UTC"),
        Column::text("broker"),
        Column::text("outcome"),
        Column::number("length"),
    ];
    columns.extend(Figure::ALL.map(|figure| Column::number(figure.name())));
    let rows = &shown[..shown.len().min(MAX_ROWS)];
    let values = rows.iter().map(|entry| match entry.contents {
        Contents::Run(_) => Some(entry.path.clone()),
        _ => None,
    });
    let choice = Choice { page: "compare", keys: ["before", "after"], values: values.collect() };
    let table = Table {
        label: "Runs and experiments",
        choice: Some(choice),
        columns,
        rows: rows.iter().map(|entry| row(entry)).collect(),
        ..Table::default()
    };
    let mut blocks = vec![Block::new("list-table", Content::Table(table))];
    let more = shown.len() - rows.len();
    if more > 0 {
        let text =
            format!("{} older ones are left out; a search finds them.", grouped(more as u64));
        blocks.push(Block::sentences("list-rest", vec![Sentence::new(text, Tone::Note)]));
    }
    Section::new("list", "Runs", blocks)
}

/// Returns the fields whose values decide about the whole page.
fn form(all: &[Entry], HistoryQuery { filter, figure }: &HistoryQuery) -> Block {
    let names = |of: fn(&Entry) -> &str| {
        let found: BTreeSet<&str> = all.iter().map(of).filter(|name| !name.is_empty()).collect();
        with_all(found.into_iter().take(MAX_OPTIONS))
    };
    let has = |outcome: &Outcome| all.iter().any(|entry| entry.outcome() == *outcome);
    let outcomes = with_all(Outcome::ALL.into_iter().filter(has).map(Outcome::name));
    // The first figure is the default, which the address need not name.
    let value = |figure: Figure| if figure == Figure::ALL[0] { "" } else { figure.name() };
    let figures = Figure::ALL.map(|figure| (value(figure).to_owned(), figure.name().to_owned()));
    let fields = vec![
        Field::text("search", "Search", &filter.search),
        Field::choice("scenario", "Scenario", &filter.scenario, names(Entry::name)),
        Field::choice("broker", "Broker", &filter.broker, names(Entry::broker)),
        Field::choice("outcome", "Outcome", &filter.outcome, outcomes),
        Field::choice("figure", "Trend of", value(*figure), figures.to_vec()),
    ];
    let form = Some(Form { label: "Search", fields });
    Block::new("search-fields", Content::Table(Table { label: "Search", form, ..Table::default() }))
}

fn with_all<'a>(options: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    std::iter::once((String::new(), "all".to_owned())).chain(options.map(same)).collect()
}

/// Returns an option whose value is its text.
fn same(name: &str) -> (String, String) {
    (name.to_owned(), name.to_owned())
}

fn row(entry: &Entry) -> Vec<Cell> {
    let mut pages = entry.pages.clone();
    pages.sort_by_key(|page| page != "report.html");
    let links = pages.iter().skip(1).map(|page| (page.clone(), page_of(entry, page)));
    let name = Cell::text(entry.name()).small(&entry.path).links(links.collect());
    let name = match pages.first() {
        Some(page) => name.link(page_of(entry, page)),
        None => name,
    };
    let outcome = outcome(entry);
    let mut cells =
        vec![name, Cell::default(), Cell::text(entry.broker()), outcome, Cell::default()];
    if let Contents::Run(run) = &entry.contents {
        let started = display_utc(Duration::from_nanos(run.started_unix_nanos));
        let started = started.to_string().replace('T', " ");
        cells[1] = Cell::text(started.chars().take(MINUTE).collect::<String>());
        cells[4] = Cell::figure(run.duration_nanos as f64, Unit::Nanos);
        let figure = |figure: Figure| {
            figure.value(run).map_or_else(Cell::default, |value| Cell::figure(value, figure.unit()))
        };
        cells.extend(Figure::ALL.map(figure));
    }
    cells
}

/// Returns the kind of the end and its reason in short; the whole reason is the explanation.
fn outcome(entry: &Entry) -> Cell {
    let cell = Cell::text(entry.outcome().name()).tone(tone(entry.outcome()));
    let words = entry.outcome_in_words();
    if words == entry.outcome().name() {
        return cell;
    }
    let mut short: String = words.chars().take(MAX_REASON).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    cell.small(short).meaning(words)
}

fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Completed | Outcome::Experiment => Tone::Plain,
        Outcome::InDoubt | Outcome::LimitFailed => Tone::Note,
        Outcome::Failed | Outcome::Stopped | Outcome::Aborted | Outcome::Unreadable => Tone::Bad,
        Outcome::Unfinished => Tone::Soft,
    }
}
