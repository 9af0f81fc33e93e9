//! Ticks of a run, applied as the page does it.

use rabbitscope_runs::record::{
    BrokerFacts, Counters, Percentiles, RunRecord, SecondLatencies, SecondRow,
};
use serde_json::{Value, json};

use super::{LiveRun, Tick};
use crate::page::series::charts_of_run;

/// A page that ticks change.
struct Page(Value);

impl Page {
    fn new(has_profile: bool) -> Self {
        let run = RunRecord { name: "a run".to_owned(), ..RunRecord::default() };
        Self(serde_json::from_str(&LiveRun::head(&run, has_profile).to_json()).unwrap())
    }

    fn block(&mut self, id: &str) -> &mut Value {
        let sections = self.0["sections"].as_array_mut().unwrap().iter_mut();
        let mut blocks = sections.flat_map(|section| section["blocks"].as_array_mut().unwrap());
        blocks.find(|block| block["id"] == id).unwrap()
    }

    fn tick(&mut self, tick: &Tick) {
        let tick: Value = serde_json::from_str(&tick.to_json()).unwrap();
        for more in tick["append"].as_array().into_iter().flatten() {
            let block = self.block(more["block"].as_str().unwrap());
            let [chart, mark] =
                ["chart", "mark"].map(|key| usize::try_from(more[key].as_u64().unwrap()).unwrap());
            for column in ["x", "y"] {
                let new = more["columns"][column].as_array().unwrap().clone();
                let old = &mut block["charts"][chart]["marks"][mark][column];
                old.as_array_mut().unwrap().extend(new);
            }
        }
        for block in tick["replace"].as_array().into_iter().flatten() {
            *self.block(block["id"].as_str().unwrap()) = block.clone();
        }
    }
}

fn row(second: u32) -> SecondRow {
    SecondRow {
        second,
        interval_nanos: 1_000_000_000,
        counts: Counters {
            published: 100 + u64::from(second),
            confirmed: u64::from(second),
            ..Counters::default()
        },
        broker_cpu_cores: Some(0.5),
        latencies: SecondLatencies {
            confirm_latency: (second > 2).then(|| Percentiles {
                count: 1,
                p50: 5,
                p99: 7,
                max: 8,
                ..Percentiles::default()
            }),
            ..SecondLatencies::default()
        },
        draining: second > 8 && second < 12,
        ..SecondRow::default()
    }
}

fn second(live: &mut LiveRun, rows: &[SecondRow]) -> Tick {
    let mut run = RunRecord::default();
    for row in rows {
        run.load.counts.add(&row.counts);
    }
    let mut tick = Tick::new(1);
    live.second(&mut tick, &run, rows);
    tick
}

/// Returns titles, names of marks and points.
fn drawn(charts: &Value) -> Value {
    let charts = charts["charts"].as_array().unwrap().iter();
    let marks = |chart: &Value| -> Vec<Value> {
        let marks = chart["marks"].as_array().unwrap().iter();
        marks.map(|mark| json!([mark["name"], mark["hue"], mark["x"], mark["y"]])).collect()
    };
    charts.map(|chart| json!([chart["title"], marks(chart)])).collect()
}

#[test]
fn a_live_page_has_the_charts_of_the_report() {
    let (mut live, mut page) = (LiveRun::default(), Page::new(false));
    let rows: Vec<SecondRow> = (0..14).map(row).collect();
    let mut whole = 0;
    for count in 1..=rows.len() {
        let tick = second(&mut live, &rows[..count]);
        whole += tick.to_json().matches("\"id\":\"charts\"").count();
        page.tick(&tick);
        let report = serde_json::to_value(charts_of_run(None, &rows[..count])).unwrap();
        assert_eq!(drawn(page.block("charts")), drawn(&report), "after {count}");
    }
    // At first, with the first confirms, and with the first latency.
    assert_eq!(whole, 3);
}

#[test]
fn points_are_bounded_and_repeated() {
    let mut rows: Vec<SecondRow> = (20..1700).map(row).collect();
    let (mut live, mut whole) = (LiveRun::default(), Vec::new());
    for number in 1700..2020 {
        rows.push(row(number));
        let json = second(&mut live, &rows).to_json();
        assert!(json.len() < 1 << 20, "{}", json.len());
        if json.contains("\"id\":\"charts\"") {
            whole.push(number);
            let tick: Value = serde_json::from_str(&json).unwrap();
            let charts = tick["replace"].as_array().unwrap().iter();
            let charts = charts.clone().find(|block| block["id"] == "charts").unwrap();
            let points = charts["charts"][0]["marks"][0]["x"].as_array().unwrap().len();
            assert_eq!(points, rows.len().min(1800));
        }
    }
    assert_eq!(whole, [1700, 2001]);
}

#[test]
fn tiles_are_of_the_latest_second_with_the_totals() {
    let (mut live, mut page) = (LiveRun::default(), Page::new(false));
    let rows: Vec<SecondRow> = (3..5).map(row).collect();
    page.tick(&second(&mut live, &rows));
    let tiles = page.block("figures").clone();
    assert_eq!(tiles["label"], "Latest second");
    let figure = |name: &str| {
        let figures = tiles["figures"].as_array().unwrap().iter();
        figures.clone().find(|figure| figure["name"] == name).unwrap().clone()
    };
    assert_eq!(figure("Confirmed")["value"], 4.0);
    assert_eq!(figure("Confirmed")["details"][1]["value"], 7.0, "in all");
    assert_eq!(figure("Confirm latency")["value"], 5.0);
    let warming = SecondRow { warming: true, ..row(5) };
    page.tick(&second(&mut live, &[warming]));
    assert_eq!(page.block("figures")["label"], "Latest second, warm-up");
}

#[test]
fn what_others_write_stays_text_and_is_bounded() {
    let (mut live, mut page) = (LiveRun::default(), Page::new(true));
    assert_eq!(*page.block("stacks"), json!({ "id": "stacks", "kind": "stacks" }));
    assert_eq!(page.block("limit")["brief"], Value::Null);
    for number in 0..30 {
        let mut tick = Tick::new(number);
        live.notice(&mut tick, &format!("<b>{number}</b>\nid: 1"));
        page.tick(&tick);
    }
    let notices = page.block("notices")["sentences"].as_array().unwrap();
    assert_eq!((notices.len(), &notices[0]["text"]), (20, &json!("<b>29</b>\nid: 1.")));
    let facts = BrokerFacts { version: "4.2.0".to_owned(), ..BrokerFacts::default() };
    live.set_broker(&facts);
    let mut tick = Tick::new(1);
    live.state(&mut tick, "under load");
    page.tick(&tick);
    let state = page.block("state")["sentences"].as_array().unwrap();
    assert_eq!(state[0]["text"], "Under load.");
    assert!(state[1]["text"].as_str().unwrap().contains("4.2.0"));
}
