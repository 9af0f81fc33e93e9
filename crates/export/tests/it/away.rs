//! Backends that stay unreachable, and one that returns after we restart.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use rabbitscope_export::{ExporterFigures, Exporters, SpoolOptions};
use rabbitscope_testing::{free_address, within};

use crate::material::{now_millis, options, snapshot, start, window};

const TIMEOUT: Duration = Duration::from_secs(30);

/// Number of windows, far more than fit: 100 minutes of windows of 10 s, with a fiftieth of the usual spool.
const WINDOWS: u64 = 600;

fn only(exporters: &Exporters) -> ExporterFigures {
    exporters.figures().remove(0)
}

/// Offers windows, and waits after each until it is encoded: the encoder is not under test.
fn offer(exporters: &Exporters, count: u64) {
    for index in 0..count {
        let before = only(exporters);
        exporters.offer_window(window(index));
        within(TIMEOUT, "it is encoded", || {
            let now = only(exporters);
            now.spooled != before.spooled
                || now.dropped != before.dropped
                || now.sent != before.sent
        });
    }
}

#[test]
fn a_spool_is_bounded_and_what_gives_way_is_counted() {
    let place = tempfile::tempdir().unwrap();
    let text = format!("[[exporters]]\nkind = 'parca'\nurl = 'http://{}'", free_address());
    for directory in [None, Some(place.path().to_owned())] {
        let mut options = options(&text);
        options.spool = SpoolOptions { directory: directory.clone(), max_bytes: Some(400_000) };
        let exporters = Exporters::start(options).unwrap();
        offer(&exporters, WINDOWS);
        let figures = only(&exporters);
        assert!(figures.spool_bytes <= 400_000 && figures.spool_bytes > 390_000, "{figures:?}");
        assert_eq!(figures.spooled + figures.dropped["spool-full"], WINDOWS, "{figures:?}");
        assert_eq!(exporters.take_notices().len(), 1);
        let on_disk: u64 = directory.iter().map(|path| bytes_below(path)).sum();
        let expected = if directory.is_some() { figures.spool_bytes } else { 0 };
        let left = exporters.finish(Duration::ZERO).remove(0);
        assert_eq!(on_disk, expected);
        let lost = left.dropped.get("end").copied().unwrap_or_default();
        assert_eq!(lost, if directory.is_some() { 0 } else { figures.spooled });
    }
}

fn bytes_below(directory: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let sizes = entries.map(|entry| {
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() { bytes_below(&entry.path()) } else { metadata.len() }
    });
    sizes.sum()
}

#[test]
fn what_waited_in_a_directory_is_sent_in_order_after_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let address = free_address();
    let text = format!("[[exporters]]\nkind = 'influx'\nurl = 'http://{address}'");
    let begin = || {
        let mut options = options(&text);
        let directory = Some(place.path().to_owned());
        options.spool = SpoolOptions { directory, max_bytes: None };
        Exporters::start(options).unwrap()
    };
    let start = now_millis();
    for half in 0..2 {
        let exporters = begin();
        for index in 5 * half..5 * half + 5 {
            exporters.offer_metrics(snapshot(start + index, index));
        }
        within(TIMEOUT, "all are spooled", || only(&exporters).spooled == 5 * (half + 1));
        exporters.finish(Duration::ZERO);
    }
    let received = accept_all(address);
    let exporters = begin();
    let all: Vec<String> = (0..10).map(|_| received.recv_timeout(TIMEOUT).unwrap()).collect();
    for (index, body) in (0..).zip(&all) {
        let value = format!("node_messages_published_total={index} {}000000\n", start + index);
        assert!(body.contains(&value), "{index}: {body}");
    }
    within(TIMEOUT, "none waits", || only(&exporters).spooled == 0);
    assert_eq!(bytes_below(place.path()), 0);
    assert_eq!(exporters.finish(TIMEOUT)[0].sent, 10);
    assert!(received.try_recv().is_err(), "nothing comes twice");
}

/// Accepts requests, and returns their bodies in order.
fn accept_all(address: SocketAddr) -> Receiver<String> {
    let listener = TcpListener::bind(address).unwrap();
    let (send, received) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = BufReader::new(stream);
            while let Some(body) = read_request(&mut stream) {
                send.send(body).unwrap();
                let _ = stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
            }
        }
    });
    received
}

fn read_request(stream: &mut impl BufRead) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length:") {
            length = bytes.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

#[test]
fn offering_never_waits() {
    let text = format!("[[exporters]]\nkind = 'pyroscope'\nurl = 'http://{}'", free_address());
    let exporters = start(&text);
    let big = window(0);
    for _ in 0..500 {
        exporters.offer_window(big.clone());
    }
    let figures = exporters.finish(TIMEOUT.min(Duration::from_secs(1))).remove(0);
    assert_eq!(figures.offered, 500);
    assert!(figures.dropped.contains_key("encoder-busy"), "{figures:?}");
    assert_eq!(figures.dropped_total(), 500, "every window is accounted for: {figures:?}");
}
