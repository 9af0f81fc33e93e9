//! The list of runs and their lasting changes as a page, without a script.

use std::{cmp::Reverse, fmt::Write, time::Duration};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rabbitscope_analysis::history::MIN_RUNS;
use rabbitscope_text::{display_duration, display_utc};

use crate::history::{Change, Contents, Entry, Figure, Listing, RunFacts, Trend, trends};

/// Policy of the page: its own style and the search form.
pub(crate) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'";

/// Characters of a path that stay in an address.
const IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_');

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem;color-scheme:light dark}\
    table{border-collapse:collapse}th,td{padding:.2rem .7rem;text-align:left;\
    border-bottom:1px solid #8886}td.n{text-align:right;font-variant-numeric:tabular-nums}\
    .wide{overflow-x:auto}.muted{opacity:.7}";

/// Returns the page of all entries that contain `search`.
pub(crate) fn list(listing: &Listing, search: &str) -> Vec<u8> {
    let rows: Vec<_> =
        listing.entries.iter().map(cells).filter(|cells| cells.has(search)).collect();
    let mut out = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\">\
         <title>Runs</title><style>{STYLE}</style></head><body><main><h1>Runs and experiments</h1>\
         <form><label>Search <input name=\"search\" value=\"{}\"></label> <button>Search</button>\
         </form>",
        escaped(search),
    );
    write_changes(&mut out, listing);
    write!(
        out,
        "<p>{} of {}, newest first.{}</p><div class=\"wide\"><table><thead><tr>",
        rows.len(),
        listing.entries.len(),
        left_out(listing.left_out),
    )
    .expect("a string takes everything");
    let heads = ["when", "name", "broker", "outcome", "length"];
    for head in heads.into_iter().chain(Figure::ALL.map(Figure::name)) {
        write!(out, "<th scope=\"col\">{head}</th>").expect("a string takes everything");
    }
    out.push_str("</tr></thead><tbody>");
    for cells in &rows {
        cells.write(&mut out);
    }
    out.push_str("</tbody></table></div></main></body></html>\n");
    out.into_bytes()
}

fn left_out(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!(" {count} directories were not looked into."),
    }
}

/// Writes the lasting changes of all figures, the newest first; nothing if there are none.
fn write_changes(out: &mut String, listing: &Listing) {
    let trends = Figure::ALL.map(|figure| trends(listing, figure));
    let mut changes: Vec<_> = trends.iter().flatten().flat_map(changes_of).collect();
    if changes.is_empty() {
        return;
    }
    changes.sort_by_key(|(started, _)| Reverse(*started));
    out.push_str("<h2>Lasting changes</h2><ul>");
    for (_, text) in changes {
        write!(out, "<li>{}</li>", escaped(&text)).expect("a string takes everything");
    }
    write!(out, "</ul><p class=\"muted\">A change has {MIN_RUNS} runs or more on both sides.</p>")
        .expect("a string takes everything");
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

/// The texts of a row.
struct Cells<'a> {
    entry: &'a Entry,
    when: String,
    name: &'a str,
    broker: &'a str,
    outcome: String,
    length: String,
    figures: [String; Figure::ALL.len()],
}

fn cells(entry: &Entry) -> Cells<'_> {
    let mut cells = Cells {
        entry,
        when: String::new(),
        name: entry.path.rsplit('/').next().unwrap_or_default(),
        broker: "",
        outcome: String::new(),
        length: String::new(),
        figures: Default::default(),
    };
    match &entry.contents {
        Contents::Run(run) => {
            cells.when = display_utc(Duration::from_nanos(run.started_unix_nanos)).to_string();
            cells.name = &run.name;
            cells.broker = &run.broker.version;
            cells.outcome = outcome(run);
            let whole_seconds = Duration::from_secs(run.duration_nanos / 1_000_000_000);
            cells.length = display_duration(whole_seconds).to_string();
            let text = |figure: Figure| figure.value(run).map(|value| figure.display(value));
            cells.figures = Figure::ALL.map(|figure| text(figure).unwrap_or_default());
        }
        Contents::Experiment(experiment) => {
            cells.name = &experiment.name;
            cells.outcome = format!("experiment: {}", experiment.sentences.join(" "));
        }
        Contents::Unfinished => "killed, or not ended".clone_into(&mut cells.outcome),
        Contents::Unreadable { reason } => cells.outcome = format!("cannot be read: {reason}"),
    }
    cells
}

fn outcome(run: &RunFacts) -> String {
    let failed = run.expectations.iter().filter(|expectation| !expectation.passed).count();
    match run.verdict.reason() {
        Some(reason) => reason.to_owned(),
        None if !run.doubts.is_empty() => "not valid".to_owned(),
        None if failed > 0 => format!("{failed} of {} limits failed", run.expectations.len()),
        None => "completed".to_owned(),
    }
}

impl Cells<'_> {
    /// Returns true if a text contains this one, in any case.
    fn has(&self, search: &str) -> bool {
        let search = search.to_lowercase();
        let texts = [self.when.as_str(), self.name, self.broker, &self.outcome, &self.entry.path];
        texts.iter().any(|text| text.to_lowercase().contains(&search))
    }

    fn write(&self, out: &mut String) {
        let name = escaped(self.name);
        let link = |page: &str| {
            let path = if self.entry.path.is_empty() {
                page.to_owned()
            } else {
                format!("{}/{page}", self.entry.path)
            };
            format!("files/{}", utf8_percent_encode(&path, IN_PATHS))
        };
        let linked = match self.entry.pages.first() {
            Some(page) => format!("<a href=\"{}\">{name}</a>", link(page)),
            None => name,
        };
        let others = self.entry.pages.iter().skip(1);
        let others = others
            .map(|page| format!(" <a href=\"{}\">{}</a>", link(page), escaped(page)))
            .collect::<Vec<_>>()
            .concat();
        write!(
            out,
            "<tr><td>{}</td><td>{linked}{others}<br><span class=\"muted\">{}</span></td><td>{}</td>\
             <td>{}</td><td class=\"n\">{}</td>",
            self.when,
            escaped(&self.entry.path),
            escaped(self.broker),
            escaped(&self.outcome),
            self.length,
        )
        .expect("a string takes everything");
        for figure in &self.figures {
            write!(out, "<td class=\"n\">{figure}</td>").expect("a string takes everything");
        }
        out.push_str("</tr>");
    }
}

fn escaped(text: &str) -> String {
    let replaced = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(replaced).collect()
}
