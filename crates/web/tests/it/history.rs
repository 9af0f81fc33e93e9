//! A history with figures that a test can know by heart, and hostile names.

use std::io::Write;

use rabbitscope_analysis::{
    ProfileDiff,
    history::{Contents, Entry, Figure, Filter, Listing, RunPair},
};
use rabbitscope_runs::record::{
    BrokerFacts, FORMAT_VERSION, LoadTotals, Measured, RunRecord, SecondRow, Verdict,
};
use rabbitscope_web::{
    ComparedRun, DiffReport, HistoryQuery, NamedProfile, PairReport, write_history, write_pair,
};

use crate::pages;

const HOSTILE: &str = "<img src=x onerror=\"alert(1)\">";
const SECOND: u64 = 1_000_000_000;

/// A run of ten seconds.
fn record(name: &str, number: u64, rate: u64, version: &str) -> RunRecord {
    let mut load = LoadTotals::default();
    load.counts.published = 10 * rate;
    load.counts.accepted = (10 * rate).into();
    RunRecord {
        format_version: FORMAT_VERSION,
        name: name.to_owned(),
        started_unix_nanos: (1_795_579_200 + 3600 * number) * SECOND,
        duration_nanos: 10 * SECOND,
        measured: Measured { duration_nanos: 10 * SECOND, load, ..Measured::default() },
        broker: BrokerFacts {
            product: "RabbitMQ".to_owned(),
            version: version.to_owned(),
            ..BrokerFacts::default()
        },
        ..RunRecord::default()
    }
}

fn entry(path: &str, record: &RunRecord) -> Entry {
    let contents = Contents::from_run(&serde_json::to_vec(record).expect("a record is JSON"));
    let pages = vec!["packets.html".to_owned(), "report.html".to_owned()];
    Entry { path: path.to_owned(), pages, contents }
}

/// Thirty runs, of which the newest ten are faster and the oldest five had another broker, and one that failed.
pub(crate) fn listing() -> Listing {
    let steady = (0..30).rev().map(|number| {
        let rate = if number < 20 { 1000 } else { 1200 } + number % 3;
        let version = if number < 5 { "3.13.7" } else { "4.1.4" };
        entry(&format!("runs/steady-{number:02}"), &record("steady", number, rate, version))
    });
    let failed = Verdict::Failed { reason: "the broker <went> away".to_owned() };
    let failed = RunRecord { verdict: failed, ..record(HOSTILE, 0, 10, HOSTILE) };
    let entries = steady.chain([entry(&format!("runs/{HOSTILE}"), &failed)]).collect();
    Listing { entries, left_out: 0 }
}

/// Writes the list.
pub(crate) fn write_list(out: impl Write) {
    let query = HistoryQuery { filter: Filter::default(), figure: Figure::Published };
    write_history(out, &listing(), &query).expect("the file takes everything");
}

/// Writes two runs side by side, of which the later one is twice as fast.
pub(crate) fn write_two(out: impl Write) {
    let records = [record("steady", 0, 1000, "3.13.7"), record("steady", 1, 2000, HOSTILE)];
    let rows = |factor: u64| -> Vec<SecondRow> {
        let mut rows = pages::series();
        for row in &mut rows {
            row.counts.published *= factor;
            row.counts.accepted = row.counts.published.into();
        }
        rows
    };
    let series = [rows(1), rows(2)];
    let names = ["runs/before", HOSTILE].map(str::to_owned);
    let pair = RunPair::new(names.clone(), [0, 1].map(|side| (&records[side], &series[side][..])));
    let (before, after) = (pages::profile(), pages::faster_profile());
    let diff = ProfileDiff::between(&before, &after).expect("both are of CPU time");
    let profiles = DiffReport {
        diff: &diff,
        before: NamedProfile { name: &names[0], profile: &before },
        after: NamedProfile { name: &names[1], profile: &after },
        cost: None,
    };
    let runs = [0, 1].map(|side| ComparedRun {
        record: &records[side],
        series: &series[side],
        report: (side == 0).then_some("files/runs/before/report.html"),
    });
    let exchanged = "compare?before=b&after=a";
    let report = PairReport { pair: &pair, runs, profiles: Ok(profiles), exchanged };
    write_pair(out, report).expect("the file takes everything");
}
