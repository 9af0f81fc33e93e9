//! A live page over real sockets.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use rabbitscope_http::{ListenOptions, Listener};
use rabbitscope_profiles::{Profile, read_folded};
use rabbitscope_runs::record::RunRecord;
use rabbitscope_web::{LiveRun, Tick};
use serde_json::Value;

use super::LiveServer;

const SECOND: u64 = 1_000_000_000;

fn start() -> LiveServer {
    let address = "127.0.0.1:0".parse().unwrap();
    let options = ListenOptions { address, auth_file: None, auth_option: "", hosts: Vec::new() };
    let (listener, run) = (Listener::bind(options).unwrap(), RunRecord::default());
    LiveServer::start(listener, &LiveRun::page(&run, true), &LiveRun::head(&run, true)).unwrap()
}

/// A window of two seconds that begins at this second, with a weight of 3.
fn window(second: u64) -> Profile {
    let mut profile = read_folded("scheduler;m:f/1 3".as_bytes()).unwrap();
    profile.capture.started_unix_nanos = (1000 + second) * SECOND;
    profile.capture.duration_nanos = 2 * SECOND;
    profile
}

fn tick(server: &LiveServer, text: &str) {
    let mut tick = Tick::new(1);
    LiveRun::default().state(&mut tick, text);
    server.tick(tick);
}

/// Sends a request for a path below the token.
fn ask(server: &LiveServer, path: &str) -> TcpStream {
    let rest = server.url().strip_prefix("http://").unwrap();
    let (address, token) = rest.split_once('/').unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let close = if path == "events" { "" } else { "Connection: close\r\n" };
    let request = format!("GET /{token}{path} HTTP/1.1\r\nHost: localhost\r\n{close}\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    socket
}

/// Returns status and body of an answer.
fn get(server: &LiveServer, path: &str) -> (u16, String) {
    let mut answer = String::new();
    ask(server, path).read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

fn profile(server: &LiveServer, query: &str) -> Value {
    let (status, body) = get(server, &format!("profile.json{query}"));
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.contains(end) {
        let mut bytes = [0; 4096];
        let count = socket.read(&mut bytes).unwrap();
        assert!(count > 0, "closed after {text}");
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    text
}

#[test]
fn a_span_of_the_profile_is_the_sum_of_its_windows() {
    let server = start();
    let (status, sentence) = get(&server, "profile.json");
    assert_eq!((status, sentence.as_str()), (404, "there is no profile yet\n"));
    assert!(server.profile(Duration::from_secs(4)).is_none());
    (0..5).for_each(|number| server.window(window(2 * number)));
    let all = profile(&server, "");
    assert_eq!([&all["number"], &all["profile"]["total"]], [5, 15]);
    assert_eq!([&all["from"], &all["to"]], [1000 * SECOND, 1010 * SECOND]);
    let latest = profile(&server, "?seconds=4");
    assert_eq!([&latest["number"], &latest["profile"]["total"]], [5, 6]);
    assert_eq!(latest["from"], 1006 * SECOND);
    assert!(latest["columns"].as_str().unwrap().len() > 20);
    assert_eq!(profile(&server, "?seconds=1")["profile"]["total"], 3, "the latest one always");
    assert_eq!(server.profile(Duration::from_secs(4)).unwrap().total(), 6);
    for wrong in ["x", "0", "-1", "1.5", ""] {
        assert_eq!(get(&server, &format!("profile.json?seconds={wrong}")).0, 400, "{wrong}");
    }
    server.window(window(10));
    assert_eq!(profile(&server, "")["profile"]["total"], 18, "no answer stays after a new window");
}

#[test]
fn a_tick_names_a_new_window_once() {
    let server = start();
    let mut viewer = ask(&server, "events");
    read_until(&mut viewer, "event: head\n");
    server.tick(Tick::new(1));
    server.window(window(0));
    server.window(window(2));
    tick(&server, "one");
    tick(&server, "two");
    server.end("Over.", None);
    let text = read_until(&mut viewer, "event: end\n");
    assert_eq!(text.matches("event: tick\n").count(), 2, "none without a change: {text}");
    let mark = format!("\"profile\":{{\"number\":2,\"from\":{},", 1002 * SECOND);
    assert_eq!(
        (text.matches(&mark).count(), text.matches("\"profile\":").count()),
        (1, 1),
        "{text}"
    );
}

#[test]
fn no_tick_is_earlier_than_one_before() {
    let server = start();
    let mut viewer = ask(&server, "events");
    read_until(&mut viewer, "event: head\n");
    // A clock that is set back, and two threads whose ticks come in the other order.
    for at in [5_000_000, 3, 5_000_001] {
        let mut tick = Tick::new(at);
        LiveRun::default().state(&mut tick, "under load");
        server.tick(tick);
    }
    server.end("Over.", None);
    let text = read_until(&mut viewer, "event: end\n");
    for at in [5_000_000, 5_001_000, 5_002_000] {
        assert!(text.contains(&format!("{{\"at\":{at},")), "{at}: {text}");
    }
}

#[test]
fn the_end_waits_for_the_report_of_viewers_only() {
    let server = start();
    let stop = AtomicBool::new(false);
    assert_eq!(get(&server, "report.html").0, 404);
    let lingered = |longest: u64| {
        let begun = Instant::now();
        server.linger(Duration::from_millis(longest), &stop);
        begun.elapsed()
    };
    assert!(lingered(20_000) < Duration::from_secs(1), "nobody looks");
    let mut viewer = ask(&server, "events");
    read_until(&mut viewer, "event: head\n");
    server.end("The run is complete.", Some(b"<html>a report".to_vec()));
    let end = read_until(&mut viewer, "event: end\n");
    let end =
        if end.ends_with("}\n\n\r\n") { end } else { end + &read_until(&mut viewer, "}\n\n") };
    assert!(
        end.contains("{\"sentence\":\"The run is complete.\",\"page\":\"report.html\"}"),
        "{end}"
    );
    assert!(lingered(100) >= Duration::from_millis(100), "the viewer has no report yet");
    assert_eq!(get(&server, "report.html"), (200, "<html>a report".to_owned()));
    drop(viewer);
    let took = lingered(20_000);
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_viewer_that_does_not_read_delays_nobody() {
    let server = start();
    let _deaf: Vec<TcpStream> = (0..5).map(|_| ask(&server, "events")).collect();
    let begun = Instant::now();
    (0..100).for_each(|_| tick(&server, &"x".repeat(2_000)));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let mut viewer = ask(&server, "events");
    server.end("Over.", None);
    read_until(&mut viewer, "event: end\n");
}

#[test]
fn the_page_reaches_its_own_server_only() {
    let server = start();
    let mut answer = String::new();
    ask(&server, "").read_to_string(&mut answer).unwrap();
    let head = answer.split_once("\r\n\r\n").unwrap().0;
    assert!(head.contains("connect-src 'self'; base-uri 'none'"), "{head}");
    assert!(answer.contains("\"live\":{\"title\":\"\",\"profile\":true}"));
    assert_eq!(get(&server, "runs.json").0, 404);
}
