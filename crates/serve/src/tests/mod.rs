//! Directories of runs, as a browser sees them: the helpers of the tests.

mod list;
mod pair;
mod paths;

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
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
        "load": totals(rate * 10), "latencies": [], "profile": null, "losses": [],
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

    /// Returns the document of a page.
    fn document(&self, path: &str) -> Value {
        let (head, page) = self.get(path);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}\n{page}");
        assert!(head.contains("script-src 'unsafe-inline'") && !head.contains("sandbox"), "{head}");
        assert!(head.contains("form-action 'none'; frame-ancestors 'none'"), "{head}");
        let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        serde_json::from_str::<Value>(data).unwrap()["document"].take()
    }

    /// Returns the block with this id.
    fn block(&self, path: &str, id: &str) -> Value {
        let document = self.document(path);
        let sections = document["sections"].as_array().unwrap();
        let mut blocks = sections.iter().flat_map(|section| section["blocks"].as_array().unwrap());
        blocks.find(|block| block["id"] == id).unwrap_or_else(|| panic!("{document}")).clone()
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
