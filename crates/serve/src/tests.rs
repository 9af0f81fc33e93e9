//! Directories of runs, as a browser sees them.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::symlink,
    path::Path,
    time::Instant,
};

use rabbitscope_files::SourceDirectory;
use rabbitscope_http::{Limits, ListenOptions, Listener, Server};
use serde_json::{Value, json};

use crate::answers;

/// Writes a record of a run that started at this second.
fn write_run(place: &Path, name: &str, second: u64, rate: u64) {
    let directory = place.join(name);
    fs::create_dir_all(&directory).unwrap();
    let nanos = 1_000_000_000_u64;
    let record = json!({
        "format-version": 2, "rabbitscope": "0.1.0", "name": "steady", "description": "",
        "started-unix-nanos": second * nanos, "duration-nanos": 10 * nanos,
        "scenario": {"run": {"time": "10s"}},
        "machine": {"kernel": "Linux", "distribution": "Debian", "cpu": "A", "cpus": 2,
                    "memory-bytes": 1},
        "broker": {"product": "RabbitMQ", "version": "3.10.8", "platform": "Erlang/OTP 25",
                   "cluster-name": "", "address": "", "pid": null, "throwaway": true},
        "verdict": {"kind": "completed"},
        "measured": {"duration-nanos": 10 * nanos, "load": totals(rate * 10)},
        "latencies": [],
    });
    fs::write(directory.join("run.json"), record.to_string()).unwrap();
}

fn totals(published: u64) -> Value {
    let mut totals = serde_json::to_value(rabbitscope_runs::record::LoadTotals::default()).unwrap();
    for counter in ["published", "accepted"] {
        totals[counter] = published.into();
    }
    totals
}

/// A server of a directory, and the path that its token makes.
struct Served {
    server: Server,
    prefix: String,
}

impl Served {
    fn start(place: &Path) -> Self {
        let address = "127.0.0.1:0".parse().unwrap();
        let options =
            ListenOptions { address, auth_file: None, auth_option: "", hosts: Vec::new() };
        let listener = Listener::bind(options).unwrap().with_path_token().unwrap();
        let url = listener.url().unwrap();
        let place = SourceDirectory::open(place).unwrap();
        let answer = move |request: &_| answers::respond(request, &place);
        let server = Server::start(listener, Limits::default(), answer).unwrap();
        let prefix = url.split_once(&server.address().to_string()).unwrap().1;
        Self { prefix: prefix.trim_end_matches('/').to_owned(), server }
    }

    /// Returns head and body of the answer to a request below the token.
    fn get(&self, path: &str) -> (String, String) {
        self.get_whole(&format!("{}{path}", self.prefix))
    }

    fn get_whole(&self, path: &str) -> (String, String) {
        let mut socket = TcpStream::connect(self.server.address()).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn json(&self, path: &str) -> Value {
        let (head, body) = self.get(path);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}\n{body}");
        serde_json::from_str(&body).unwrap()
    }

    #[track_caller]
    fn check_status(&self, path: &str, expected: &str) {
        let head = self.get(path).0;
        assert!(head.starts_with(&format!("HTTP/1.1 {expected} ")), "{path}: {head}");
    }
}

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
    let (head, page) = served.get("/?search=STEADY");
    assert!(head.contains("form-action 'self'; frame-ancestors 'none'"), "{head}");
    assert!(page.contains("2 of 4") && page.contains("files/a/report.html"), "{page}");
    assert!(page.contains("200/s"), "{page}");
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
    let page = served.get("/").1;
    assert!(page.contains("steady, published.rate: 1,001/s → 1,201/s (+20.0 %) since"), "{page}");
}

#[test]
fn no_path_leads_out() {
    let outside = tempfile::tempdir().unwrap();
    let place = outside.path().join("place");
    write_run(&place, "a", 10, 100);
    fs::write(place.join("a/report.html"), "<p>report").unwrap();
    fs::write(place.join("a/secret.txt"), "secret").unwrap();
    fs::write(outside.path().join("secret.html"), "secret").unwrap();
    symlink(outside.path(), place.join("out")).unwrap();
    symlink(outside.path().join("secret.html"), place.join("a/link.html")).unwrap();
    let served = Served::start(&place);
    let (head, body) = served.get("/files/a/report.html");
    assert!(head.starts_with("HTTP/1.1 200 ") && body == "<p>report", "{head}");
    assert!(
        head.contains("sandbox allow-scripts") && head.contains("default-src 'none'"),
        "{head}"
    );
    served.check_status("/files/a/run.json", "200");
    for wrong in [
        "/files/../secret.html",
        "/files/a/../../secret.html",
        "/files/a/%2e%2e/%2e%2e/secret.html",
        "/files/..%2fsecret.html",
        "/files//etc/passwd",
        "/files/%2fetc%2fpasswd",
        "/files/out/secret.html",
        "/files/a/link.html",
        "/files/a/secret.txt",
        "/files/a",
        "/files/",
        "/files/a/report.html%00",
        "/files/%ff.html",
        "/nothing",
    ] {
        served.check_status(wrong, "404");
    }
    assert!(served.get_whole("/files/a/report.html").0.starts_with("HTTP/1.1 404 "));
    assert!(served.get_whole("/").0.starts_with("HTTP/1.1 404 "));
}

#[test]
fn names_of_others_are_text() {
    let place = tempfile::tempdir().unwrap();
    let hostile = "<img src=x onerror=alert(1)>\"'&";
    write_run(place.path(), hostile, 10, 100);
    fs::write(place.path().join(hostile).join("report.html"), "mine").unwrap();
    let record = place.path().join(hostile).join("run.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("steady", "<script>")).unwrap();
    let served = Served::start(place.path());
    let page = served.get("/?search=%3Cimg").1;
    assert!(page.contains("1 of 1"), "{page}");
    assert!(!page.contains("<img") && !page.contains("<script"), "{page}");
    let link = page.split("href=\"files/").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(served.get(&format!("/files/{link}")).1, "mine");
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
    println!("1,000 runs in {took:.2?}");
    let entries = listed["entries"].as_array().unwrap();
    assert!(entries.len() == 1000 && entries.iter().all(|entry| entry["kind"] == "run"));
    // Without optimisation, on a busy machine; a release needs some tens of milliseconds.
    assert!(took.as_secs_f64() < 5.0, "{took:?}");
}
