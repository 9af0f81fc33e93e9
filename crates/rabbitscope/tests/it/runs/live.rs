//! `run --serve`: a run as a live page.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use rabbitscope_testing::{
    Ends, Served, Workbench, existing_broker, http, is_root,
    scenario::{Profile, Scenario},
};
use serde_json::{Value, json};

/// An event: its name and its data.
type Event = (String, Value);

/// Starts to view the events of a run.
fn view(served: &Served) -> TcpStream {
    let mut socket = TcpStream::connect(&served.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!("GET {}events HTTP/1.1\r\nHost: localhost\r\n\r\n", served.path);
    socket.write_all(request.as_bytes()).unwrap();
    socket
}

/// Passes on events until the end. The lines between them are lengths of chunks.
fn read_events(socket: TcpStream, mut each: impl FnMut(&Event)) -> Vec<Event> {
    let (mut events, mut name) = (Vec::new(), String::new());
    for line in BufReader::new(socket).lines() {
        let line = line.unwrap();
        if let Some(event) = line.strip_prefix("event: ") {
            event.clone_into(&mut name);
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((name.clone(), serde_json::from_str(data).unwrap()));
            each(&events[events.len() - 1]);
            if name == "end" {
                break;
            }
        }
    }
    events
}

/// Applies ticks to the charts of the head.
fn charts_of(events: &[Event]) -> Value {
    let mut charts = json!([]);
    for (_, tick) in events.iter().filter(|(name, _)| name == "tick") {
        for more in tick["append"].as_array().into_iter().flatten() {
            assert_eq!(more["block"], "charts");
            let [chart, mark] =
                ["chart", "mark"].map(|key| usize::try_from(more[key].as_u64().unwrap()).unwrap());
            for column in ["x", "y"] {
                let old = &mut charts[chart]["marks"][mark][column];
                let new = more["columns"][column].as_array().unwrap().clone();
                old.as_array_mut().unwrap().extend(new);
            }
        }
        for block in tick["replace"].as_array().into_iter().flatten() {
            if block["id"] == "charts" {
                charts = block["charts"].clone();
            }
        }
    }
    charts
}

/// Returns titles, names of marks and points.
fn drawn(charts: &Value) -> Vec<Value> {
    let marks = |chart: &Value| -> Vec<Value> {
        let marks = chart["marks"].as_array().unwrap().iter();
        marks.map(|mark| json!([mark["name"], mark["hue"], mark["x"], mark["y"]])).collect()
    };
    let charts = charts.as_array().unwrap().iter();
    charts.map(|chart| json!([chart["title"], marks(chart)])).collect()
}

fn data_of(report: &str) -> Value {
    let data = report.split_once("id=\"data\">").unwrap().1;
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

fn profile(served: &Served, query: &str) -> (u16, String) {
    let answer = served.get(&format!("{}profile.json{query}", served.path), "");
    let (status, body) = http::parts(&answer);
    (status, body.to_owned())
}

#[test]
fn a_live_page_shows_what_the_report_then_has() {
    if !is_root() {
        return;
    }
    let bench = Workbench::new("live");
    bench.file("s.toml", Scenario::steady("live", "14s").profile(Profile::new("14s")));
    let uri = existing_broker().uri();
    let run = format!("run s.toml --uri {uri} --plain --json --out out --serve");
    let served = Served::start(&bench, &run);
    let viewer = view(&served);
    let deaf: Vec<TcpStream> = (0..8).map(|_| view(&served)).collect();
    assert_eq!(profile(&served, "").0, 404);
    let mut arrivals = Vec::new();
    let mut latest = Value::Null;
    let events = read_events(viewer, |(name, data)| {
        if name == "tick" && data["append"].is_array() {
            arrivals.push(Instant::now());
        }
        if data["profile"].is_object() {
            let (status, body) = profile(&served, "?seconds=3");
            assert_eq!(status, 200, "{body}");
            latest = serde_json::from_str(&body).unwrap();
        }
    });
    assert_eq!(events[0].0, "head");
    let ids: Vec<&Value> = events[0].1["sections"].as_array().unwrap().iter().collect();
    let ids: Vec<String> = ids.iter().map(|section| section["id"].to_string()).collect();
    assert_eq!(ids.join(" "), r#""now" "over-time" "profile" "events""#);
    // The charts are whole in some seconds, when a line begins.
    assert!(arrivals.len() >= 5, "{}", arrivals.len());
    let longest = arrivals.windows(2).map(|two| two[1] - two[0]).max().unwrap();
    assert!(longest < Duration::from_secs(4), "{longest:?}");
    assert!(latest["profile"]["total"].as_u64().unwrap() > 0, "{latest}");
    assert!(latest["to"].as_u64().unwrap() - latest["from"].as_u64().unwrap() < 5_000_000_000);

    let (end, sentence) = &events[events.len() - 1];
    assert_eq!((end.as_str(), &sentence["page"]), ("end", &json!("report.html")));
    let all: Value = serde_json::from_str(&profile(&served, "").1).unwrap();
    let answer = served.get(&format!("{}report.html", served.path), "");
    drop(deaf);
    served.child.ended().code(0);
    let (status, report) = http::parts(&answer);
    assert_eq!((status, report), (200, bench.read("out/report.html").as_str()));
    let report = data_of(report);
    let mut expected = drawn(&report["charts"]["charts"]);
    // A chart of the whole run is known at its end only.
    expected.retain(|chart| chart[0] != "Latency by percentile, log scale");
    assert!(expected.len() >= 4, "{expected:?}");
    assert_eq!(drawn(&charts_of(&events)), expected);

    let record = bench.json("out/run.json");
    assert_eq!(all["profile"]["quality"], record["profile"]["quality"]);
    assert_eq!(all["profile"]["total"], report["profile"]["total"]);
    assert_eq!(all["profile"]["owners"]["steps"], report["profile"]["owners"]["steps"]);
    let limits = events.iter().filter(|(_, data)| data["replace"].to_string().contains("latest "));
    assert!(limits.count() >= 1, "a limit of the latest seconds");
}

#[test]
fn only_the_printed_address_shows_the_run() {
    let bench = Workbench::new("live-access");
    bench.file("s.toml", Scenario::steady("live-access", "4s"));
    let uri = existing_broker().uri();
    let run = format!("run s.toml --uri {uri} --plain --json --out out --serve=0");
    let served = Served::start(&bench, &run);
    assert_eq!(served.path.len(), 34, "{}", served.path);
    let check = |path: &str, headers: &str, expected: &str| {
        let request = format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        let answer = http::ask(&served.address, &request);
        assert_eq!(answer.split(' ').nth(1), Some(expected), "{path} {headers}: {answer:.500}");
        answer
    };
    let own = format!("Host: {}\r\n", served.address);
    let page = check(&served.path, &own, "200");
    assert!(page.contains("\"live\":{\"title\":\"test\",\"profile\":false}"));
    for below in ["events", "profile.json", "report.html"] {
        check(&format!("/{below}"), &own, "404");
        let path = format!("{}{below}", served.path);
        check(&path, "Host: evil.example\r\n", "421");
        check(&path, &format!("{own}Origin: http://evil.example\r\n"), "403");
        check(&path, &format!("{own}Sec-Fetch-Site: cross-site\r\n"), "403");
    }
    let head = read_events(view(&served), |_| ()).remove(0).1;
    assert!(!head.to_string().contains("\"stacks\""), "there is no profile to show");
    served.child.ended().code(0);
    let printed = fs::read_dir(bench.path("out")).unwrap().map(|entry| entry.unwrap().path());
    let token = served.path.trim_matches('/');
    for file in printed.filter(|path| path.is_file()) {
        let bytes = fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(token), "{}", file.display());
    }
}

#[test]
fn a_port_that_is_none_is_refused() {
    let bench = Workbench::new("live-port");
    bench.file("s.toml", Scenario::steady("live-port", "1s"));
    bench.rabbitscope("run s.toml --serve=70000").code(2).says(&["65535"]);
}
