//! A browser's part of a live page: the stream of events, and the blocks that they make.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use rabbitscope_testing::{Served, http};
use serde_json::Value;

/// Time for anything that a test waits for: some looks of a node on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// A viewer of a page.
pub(crate) struct Viewer {
    lines: BufReader<TcpStream>,
    /// The latest contents of each block.
    pub(crate) blocks: BTreeMap<String, Value>,
    /// The latest tick.
    pub(crate) tick: Value,
    /// The last event, if it has come.
    pub(crate) end: Option<Value>,
}

impl Viewer {
    /// Connects, and reads the head.
    pub(crate) fn open(served: &Served) -> Self {
        let mut socket = TcpStream::connect(&served.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let (path, host) = (&served.path, &served.address);
        write!(socket, "GET {path}events HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut viewer = Self {
            lines: BufReader::new(socket),
            blocks: BTreeMap::new(),
            tick: Value::Null,
            end: None,
        };
        assert_eq!(viewer.next(), "head");
        viewer
    }

    /// Reads events until a condition holds.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "not in time: {what}: {:#?}", self.blocks);
            self.next();
        }
    }

    /// Returns the texts of a table's column.
    pub(crate) fn column(&self, table: &str, column: usize) -> Vec<String> {
        let rows = self.blocks[table]["rows"].as_array().unwrap().iter();
        rows.map(|row| row[column]["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Reads the next event, and returns its name.
    fn next(&mut self) -> String {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the stream has ended");
            if let Some(of) = line.strip_prefix("event: ") {
                of.trim_end().clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                self.take(&name, serde_json::from_str(data).unwrap());
                return name;
            }
        }
    }

    fn take(&mut self, name: &str, data: Value) {
        match name {
            "head" => {
                for section in data["sections"].as_array().unwrap() {
                    self.replace(&section["blocks"]);
                }
            }
            "tick" => {
                self.replace(&data["replace"]);
                self.tick = data;
            }
            "end" => self.end = Some(data),
            other => panic!("{other} is no event"),
        }
    }

    fn replace(&mut self, blocks: &Value) {
        for block in blocks.as_array().into_iter().flatten() {
            self.blocks.insert(block["id"].as_str().unwrap().to_owned(), block.clone());
        }
    }
}

/// Returns the profile of the latest time, and its columns, in which names of functions are texts.
pub(crate) fn profile(served: &Served) -> (Value, String) {
    let (path, host) = (&served.path, &served.address);
    let own = format!("Host: {host}\r\nConnection: close\r\n");
    let request = format!("GET {path}profile.json?seconds=30 HTTP/1.1\r\n{own}\r\n");
    let answer = http::ask(&served.address, &request);
    let (status, body) = http::parts(&answer);
    assert_eq!(status, 200, "{body:.300}");
    let profile: Value = serde_json::from_str(body).unwrap();
    let packed = STANDARD.decode(profile["columns"].as_str().unwrap()).unwrap();
    let mut columns = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut columns).unwrap();
    (profile, String::from_utf8_lossy(&columns).into_owned())
}
