//! The list, its search and its trends.

use std::{fs, os::unix::fs::symlink, path::Path, time::Instant};

use serde_json::json;

use super::{Served, write_run};

#[test]
fn runs_are_listed_newest_first() {
    let place = tempfile::tempdir().unwrap();
    write_run(place.path(), "a", 10, 100);
    write_run(place.path(), "deep/er/b", 20, 200);
    fs::write(place.path().join("a/report.html"), "<p>report").unwrap();
    fs::create_dir(place.path().join("killed")).unwrap();
    fs::write(place.path().join("killed/series.jsonl"), "").unwrap();
    fs::create_dir(place.path().join("later")).unwrap();
    fs::write(place.path().join("later/run.json"), "{\"format-version\": 99}").unwrap();
    symlink(place.path().join("a"), place.path().join("linked")).unwrap();
    let served = Served::start(place.path());
    let listed = served.json("/runs.json");
    let entries = listed["entries"].as_array().unwrap();
    let of = |key: &str| entries.iter().map(|entry| entry[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("path"), ["deep/er/b", "a", "killed", "later"]);
    assert_eq!(of("kind"), ["run", "run", "unfinished", "unreadable"]);
    assert_eq!(entries[1]["pages"], json!(["report.html"]));
    assert_eq!(entries[0]["figures"]["published.rate"], 200.0);
    assert_eq!(served.document("/?search=STEADY")["facts"][0], "2 of 4 runs and experiments");
    let rows = served.block("/?search=STEADY", "list-table")["rows"].clone();
    assert_eq!((&rows[0][0]["text"], &rows[0][5]["value"]), (&json!("steady"), &json!(200.0)));
    assert_eq!(rows[1][0]["link"], "files/a/report.html");
}

#[test]
fn a_reader_chooses_a_part() {
    let place = tempfile::tempdir().unwrap();
    write_run(place.path(), "a", 10, 100);
    write_run(place.path(), "b", 20, 200);
    let record = place.path().join("b/run.json");
    let text = fs::read_to_string(&record).unwrap().replace("3.10.8", "4.1.0");
    fs::write(&record, text.replace("steady", "bursts")).unwrap();
    fs::create_dir(place.path().join("killed")).unwrap();
    fs::write(place.path().join("killed/series.jsonl"), "").unwrap();
    let served = Served::start(place.path());
    let check = |query: &str, expected: &[&str]| {
        let rows = served.block(&format!("/?{query}"), "list-table")["rows"].clone();
        let names = rows.as_array().unwrap().iter().map(|row| row[0]["small"].as_str().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), expected, "{query}");
    };
    check("", &["b", "a", "killed"]);
    check("scenario=bursts", &["b"]);
    check("broker=3.10.8&figure=nonsense", &["a"]);
    check("outcome=unfinished", &["killed"]);
    check("outcome=completed&search=1970-01-01", &["b", "a"]);
    check("search=nothing+here", &[]);
    let fields = served.block("/?broker=4.1.0&figure=confirm.p99", "search-fields");
    let values = fields["form"]["fields"].as_array().unwrap().iter();
    let values: Vec<_> = values.map(|field| field["value"].as_str().unwrap()).collect();
    assert_eq!(values, ["", "", "4.1.0", "", "confirm.p99"]);
}

#[test]
fn a_change_is_a_point_of_the_trend() {
    let place = tempfile::tempdir().unwrap();
    for run in 0..20 {
        let rate = if run < 10 { 1000 } else { 1200 } + run % 3;
        write_run(place.path(), &format!("run-{run}"), 100 + run, rate);
    }
    write_run(place.path(), "other", 99, 5);
    let text = fs::read_to_string(place.path().join("other/run.json")).unwrap();
    fs::write(place.path().join("other/run.json"), text.replace("3.10.8", "4.1.0")).unwrap();
    let served = Served::start(place.path());
    let trends = served.json("/trends.json?figure=published.rate");
    let trends = trends.as_array().unwrap();
    assert_eq!(trends.len(), 2, "another broker is another trend");
    let steady = trends.iter().find(|trend| trend["points"].as_array().unwrap().len() == 20);
    let changes = &steady.unwrap()["changes"];
    assert_eq!(changes.as_array().unwrap().len(), 1, "{changes}");
    assert_eq!(changes[0]["path"], "run-10");
    served.check_status("/trends.json?figure=nonsense", "400");
    let sentence = served.block("/", "change-sentences")["sentences"][0]["text"].clone();
    let expected = "steady, published.rate: 1,001/s → 1,201/s (+20.0 %) since";
    assert!(sentence.as_str().unwrap().starts_with(expected), "{sentence}");
    let chart = served.block("/", "trend-charts")["charts"][0].clone();
    let mark = |name: &str| {
        let marks = chart["marks"].as_array().unwrap();
        marks.iter().find(|mark| mark["name"] == name).unwrap_or_else(|| panic!("{chart}")).clone()
    };
    assert_eq!(mark("broker changed")["x"], json!([0.5]), "the oldest run had another broker");
    assert_eq!(mark("lasting change")["x"], json!([10.5]));
    assert_eq!(mark("RabbitMQ 3.10.8")["x"].as_array().unwrap().len(), 20);
    assert_eq!(
        mark("mean between changes")["x"],
        json!([0.0, 0.0, null, 1.0, 10.0, null, 11.0, 20.0, null])
    );
}

#[test]
fn a_thousand_runs_are_read_in_a_second() {
    let place = tempfile::tempdir().unwrap();
    for run in 0..1000 {
        write_run(place.path(), &format!("run-{run}"), run, 100);
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/data/healthy/run.json");
    for run in 0..1000 {
        // A real record, with latencies and a scenario.
        fs::copy(&data, place.path().join(format!("run-{run}/run.json"))).unwrap();
    }
    let served = Served::start(place.path());
    let started = Instant::now();
    let listed = served.json("/runs.json");
    let took = started.elapsed();
    let started = Instant::now();
    assert_eq!(served.block("/", "list-table")["rows"].as_array().unwrap().len(), 1000);
    println!("1,000 runs in {took:.2?}, as a page in {:.2?}", started.elapsed());
    let entries = listed["entries"].as_array().unwrap();
    assert!(entries.len() == 1000 && entries.iter().all(|entry| entry["kind"] == "run"));
    // Without optimisation, on a busy machine; a release needs some tens of milliseconds.
    assert!(took.as_secs_f64() < 5.0, "{took:?}");
}
