//! Streams of events over real sockets.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use super::*;
use crate::Broadcast;

const EVENTS: &str = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Starts a server that answers `/events` with the broadcast.
fn serve_events(limits: Limits, max_bytes: usize) -> (Server, SocketAddr, Broadcast) {
    let broadcast = Broadcast::new("{\"head\":1}", max_bytes);
    let sent = broadcast.clone();
    let (server, address) = serve(limits, move |request| match request.path.as_str() {
        "/events" => Response::events(&sent, request.last_event),
        _ => say_path(request),
    });
    (server, address, broadcast)
}

/// Reads until the text ends with this.
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

/// Waits until `done` returns true.
#[track_caller]
fn wait_until(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < LONG, "in vain");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_viewer_receives_head_and_events_and_comes_back() {
    let (_server, address, broadcast) = serve_events(Limits::default(), 1 << 20);
    broadcast.send("tick", "0");
    let mut viewer = connect(address, EVENTS);
    let first = read_until(&mut viewer, "id: 0\nevent: tick\ndata: 0\n\n");
    assert!(first.starts_with("HTTP/1.1 200 OK\r\n"), "{first}");
    assert!(first.contains("\r\nContent-Type: text/event-stream\r\n"), "{first}");
    assert!(first.contains("retry: 3000\nevent: head\ndata: {\"head\":1}\n\n"), "{first}");
    assert!(first.contains("Cache-Control: no-store\r\n"), "{first}");
    broadcast.send("tick", "1");
    read_until(&mut viewer, "id: 1\n");
    drop(viewer);
    broadcast.send("tick", "2");
    let back = EVENTS.replace("\r\n\r\n", "\r\nLast-Event-ID: 1\r\n\r\n");
    let text = read_until(&mut connect(address, &back), "id: 2\n");
    assert!(!text.contains("event: head") && !text.contains("id: 1\n"), "{text}");
}

#[test]
fn ten_viewers_receive_all() {
    const COUNT: usize = 20;
    let (_server, address, broadcast) = serve_events(Limits::default(), 1 << 20);
    let viewers = [(); 10].map(|()| {
        let mut viewer = connect(address, EVENTS);
        read_until(&mut viewer, "event: head\n");
        thread::spawn(move || read_until(&mut viewer, "event: end\n").matches("id: ").count())
    });
    // One event of 20 kB a second, 25 times as fast.
    for _ in 0..COUNT {
        broadcast.send("tick", &"x".repeat(20_000));
        thread::sleep(Duration::from_millis(40));
    }
    broadcast.send("end", "");
    assert_eq!(viewers.map(|viewer| viewer.join().unwrap()), [COUNT + 1; 10]);
}

#[test]
fn a_deaf_viewer_is_let_go_and_holds_up_nobody() {
    let limits = Limits { response: Duration::from_millis(500), ..Limits::default() };
    let (_server, address, broadcast) = serve_events(limits, 1 << 20);
    let mut deaf = [(); 3].map(|()| connect(address, EVENTS));
    let mut viewer = connect(address, EVENTS);
    let (is_over, received) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let reading = {
        let (is_over, received) = (Arc::clone(&is_over), Arc::clone(&received));
        thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                read_until(&mut viewer, "\nid: ");
                received.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    for socket in &deaf {
        socket.set_nonblocking(true).unwrap();
    }
    // More than the buffers of both sockets, and then for longer than the deadline.
    for _ in 0..400 {
        broadcast.send("tick", &"x".repeat(20_000));
        thread::sleep(Duration::from_millis(5));
    }
    wait_until(|| {
        broadcast.send("tick", "");
        deaf.iter_mut().all(|socket| socket.write(b"x").is_err())
    });
    is_answered(address);
    is_over.store(true, Ordering::Relaxed);
    broadcast.send("tick", "\nid: ");
    broadcast.send("tick", "\nid: ");
    reading.join().unwrap();
    assert!(received.load(Ordering::Relaxed) > 10, "the other viewer went on");
}

#[test]
fn a_silent_stream_has_no_deadline() {
    let short = Duration::from_millis(100);
    let limits = Limits { head: short, response: short, idle: short, ..Limits::default() };
    let (_server, address, broadcast) = serve_events(limits, 1 << 20);
    let mut viewer = connect(address, EVENTS);
    read_until(&mut viewer, "event: head\n");
    thread::sleep(short * 5);
    broadcast.send("tick", "late");
    read_until(&mut viewer, "data: late\n");
}

#[test]
fn viewers_leave_room_for_requests_and_stay() {
    let limits = Limits { connections: 3, unasked_of_peer: 3, viewers: 2, ..Limits::default() };
    let (_server, address, broadcast) = serve_events(limits, 1 << 20);
    let mut viewers = [(); 2].map(|()| connect(address, EVENTS));
    for viewer in &mut viewers {
        read_until(viewer, "event: head\n");
    }
    assert!(read_one(&mut connect(address, EVENTS)).starts_with("HTTP/1.1 503 "));
    let _slow = [(); 5].map(|()| connect(address, "GET"));
    is_answered(address);
    broadcast.send("tick", "still here");
    for viewer in &mut viewers {
        read_until(viewer, "still here");
    }
}

#[test]
fn a_viewer_that_left_is_forgotten() {
    let limits = Limits { viewers: 1, ..Limits::default() };
    let (_server, address, broadcast) = serve_events(limits, 1 << 20);
    read_until(&mut connect(address, EVENTS), "event: head\n");
    wait_until(|| {
        broadcast.send("tick", "");
        let mut viewer = connect(address, EVENTS);
        let mut head = [0; 12];
        viewer.read_exact(&mut head).unwrap();
        &head == b"HTTP/1.1 200"
    });
}

#[test]
fn nobody_waits_for_a_viewer_at_the_end() {
    let (server, address, broadcast) = serve_events(Limits::default(), 1 << 20);
    let mut viewer = connect(address, EVENTS);
    read_until(&mut viewer, "event: head\n");
    let started = Instant::now();
    drop(server);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    broadcast.send("tick", "nobody is there");
    assert!(TcpStream::connect(address).is_err(), "the address is free");
}
