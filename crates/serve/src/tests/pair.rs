//! Two runs side by side.

use std::{fs, os::unix::fs::symlink, path::Path};

use rabbitscope_runs::record::SecondRow;
use serde_json::json;

use super::{Served, write_run};

/// Writes a profile of two functions with these weights.
fn write_profile(place: &Path, name: &str, weights: [u64; 2]) {
    let text = format!("s;m:f/1 {}\ns;m:g/0 {}\n", weights[0], weights[1]);
    let profile = rabbitscope_profiles::read_folded(text.as_bytes()).unwrap();
    let file = fs::File::create(place.join(name).join("profile-cpu.pb.gz")).unwrap();
    rabbitscope_profiles::write_pprof(&profile, file).unwrap();
}

#[test]
fn two_runs_stand_side_by_side() {
    let place = tempfile::tempdir().unwrap();
    for (name, second, rate) in [("a b&c", 10, 100), ("later", 20, 150)] {
        write_run(place.path(), name, second, rate);
        let row = |number: u32| {
            let mut row = serde_json::to_value(SecondRow::default()).unwrap();
            row["second"] = number.into();
            row["interval-nanos"] = 1_000_000_000_u64.into();
            row["published"] = rate.into();
            row["accepted"] = rate.into();
            row["confirmed"] = rate.into();
            row.to_string()
        };
        let series = format!("{}\n{}\n{{\"torn", row(0), row(1));
        fs::write(place.path().join(name).join("series.jsonl"), series).unwrap();
    }
    let record = place.path().join("later/run.json");
    let text = fs::read_to_string(&record).unwrap().replace("3.10.8", "4.1.0");
    fs::write(&record, text).unwrap();
    fs::write(place.path().join("later/report.html"), "<p>").unwrap();
    let served = Served::start(place.path());
    let path = "/compare?before=a+b%26c&after=later";
    let rows = served.block(path, "configuration-table")["rows"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
    assert_eq!(
        (&rows[0][0]["text"], &rows[0][2]["text"]),
        (&json!("broker.version"), &json!("4.1.0"))
    );
    let rows = served.block(path, "figures-table")["rows"].clone();
    assert_eq!(
        (&rows[0][0]["text"], &rows[0][3]["value"]),
        (&json!("published.rate"), &json!(1.5))
    );
    let charts = served.block(path, "curve-charts")["charts"].clone();
    let marks = charts[0]["marks"].as_array().unwrap();
    let names: Vec<_> = marks.iter().map(|mark| mark["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["before: written", "before: confirmed", "after: written", "after: confirmed"]
    );
    assert_eq!(marks[2]["y"], json!([150.0, 150.0]), "the torn line is left out");
    let links = served.block(path, "pair-links")["links"].clone();
    assert_eq!(links[0]["href"], "files/later/report.html");
    assert_eq!(links[1]["href"], "compare?before=later&after=a%20b%26c");
    let reason = served.block(path, "profiles-none")["sentences"][0]["text"].clone();
    assert_eq!(reason, "The runs have no profiles of the same event.");
    write_profile(place.path(), "a b&c", [60, 40]);
    write_profile(place.path(), "later", [20, 80]);
    let page = served.get(path).1;
    assert!(page.contains("\"own-change\":[") && page.contains("id=\"columns\""), "{page:.3000}");
}

#[test]
fn only_runs_below_the_directory_are_compared() {
    let outside = tempfile::tempdir().unwrap();
    let place = outside.path().join("place");
    write_run(&place, "a", 10, 100);
    write_run(outside.path(), "secret", 10, 100);
    symlink(outside.path().join("secret"), place.join("link")).unwrap();
    fs::create_dir(place.join("killed")).unwrap();
    fs::write(place.join("killed/series.jsonl"), "").unwrap();
    let served = Served::start(&place);
    served.check_status("/compare?before=a&after=a", "200");
    served.check_status("/compare?before=a", "400");
    let absolute = format!("{}/secret", outside.path().display());
    for wrong in ["../secret", "a/../../secret", "link", "killed", "missing", "a%00", &absolute] {
        served.check_status(&format!("/compare?before=a&after={wrong}"), "404");
    }
}
