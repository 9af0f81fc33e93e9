//! The server against real sockets, with short deadlines.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::{Limits, ListenOptions, Listener, Request, Response, Server, Status};

mod heads;
mod viewers;

const GET: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const GET_AND_CLOSE: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/// Far longer than the deadlines below: a client that is connected after it was not closed by them.
const LONG: Duration = Duration::from_secs(30);

fn serve(
    limits: Limits,
    handler: impl Fn(&Request) -> Response + Send + Sync + 'static,
) -> (Server, SocketAddr) {
    let address = "127.0.0.1:0".parse().unwrap();
    let asked = ListenOptions { address, auth_file: None, auth_option: "", hosts: Vec::new() };
    let server = Server::start(Listener::bind(asked).unwrap(), limits, handler).unwrap();
    let address = server.address();
    (server, address)
}

fn say_path(request: &Request) -> Response {
    Response::text(Status::OK, &request.path)
}

fn connect(address: SocketAddr, first: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket.set_write_timeout(Some(LONG)).unwrap();
    socket.write_all(first.as_bytes()).unwrap();
    socket
}

/// Reads everything until the server closes; a reset counts as an end.
fn read_all(mut socket: TcpStream) -> String {
    let mut bytes = Vec::new();
    match socket.read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => String::from_utf8(bytes).unwrap(),
    }
}

/// Reads one response with a body of one line.
fn read_one(socket: &mut TcpStream) -> String {
    let mut text = String::new();
    while text.matches('\n').count() < text.matches("\r\n").count() + 1 || text.is_empty() {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    text
}

fn is_answered(address: SocketAddr) {
    let text = read_all(connect(address, GET_AND_CLOSE));
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
}

/// Returns the time until the server closes a client that does `each` every few milliseconds.
fn borne(
    mut socket: TcpStream,
    mut each: impl FnMut(&mut TcpStream) -> std::io::Result<()>,
) -> Duration {
    let started = Instant::now();
    while started.elapsed() < LONG && each(&mut socket).is_ok() {
        thread::sleep(Duration::from_millis(10));
    }
    started.elapsed()
}

#[track_caller]
fn check_about(took: Duration, expected: Duration) {
    // The machine may be busy. The point is that bytes that trickle in extend nothing.
    assert!(took >= expected && took < expected + Duration::from_secs(5), "{took:?}");
}

#[test]
fn requests_on_one_connection() {
    let (_server, address) = serve(Limits::default(), say_path);
    let mut socket =
        connect(address, "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\nGET /b HTTP/1.1\r\nHo");
    assert!(read_one(&mut socket).ends_with("\r\n\r\n/a\n"));
    socket.write_all(b"st: localhost\r\n\r\n").unwrap();
    assert!(read_one(&mut socket).ends_with("\r\n\r\n/b\n"));
    socket.write_all(b"HEAD /c HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    socket.write_all(b"POST /d HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let rest = read_all(socket);
    let (head, refusal) = rest.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{rest}");
    assert!(head.contains("\r\nContent-Length: 3\r\n"), "{rest}");
    assert!(refusal.starts_with("HTTP/1.1 405 ") && refusal.contains("\r\nAllow: GET, HEAD\r\n"));
}

#[test]
fn a_body_does_not_take_the_refusal_along() {
    let (_server, address) = serve(Limits::default(), say_path);
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n";
    let mut socket = connect(address, head);
    socket.write_all(&vec![b'x'; 100_000]).unwrap();
    assert!(read_all(socket).starts_with("HTTP/1.1 400 Bad Request\r\n"));
}

#[test]
fn a_head_has_a_deadline_as_a_whole() {
    let head = Duration::from_millis(400);
    let (_server, address) = serve(Limits { head, ..Limits::default() }, say_path);
    let mut silent = connect(address, "");
    let slow = connect(address, "GET / HTTP/1.1\r\nX: ");
    check_about(borne(slow, |socket| socket.write_all(b"x")), head);
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "a client that says nothing was closed as well");
    // The time of a later head starts at its first byte.
    let mut again = connect(address, GET);
    read_one(&mut again);
    thread::sleep(head * 2);
    again.write_all(GET.as_bytes()).unwrap();
    read_one(&mut again);
    check_about(borne(again, |socket| socket.write_all(b"x")), head);
}

#[test]
fn a_client_that_says_nothing_more_is_let_go() {
    let idle = Duration::from_millis(300);
    let (_server, address) = serve(Limits { idle, ..Limits::default() }, say_path);
    let started = Instant::now();
    read_all(connect(address, GET));
    check_about(started.elapsed(), idle);
}

/// A response that is larger than the buffers of both sockets.
fn large(_: &Request) -> Response {
    Response::found("text/plain", vec![b'x'; 32 << 20])
}

#[test]
fn a_response_has_a_deadline_as_a_whole() {
    let response = Duration::from_millis(500);
    let (_server, address) = serve(Limits { response, ..Limits::default() }, large);
    let mut socket = connect(address, GET);
    let started = Instant::now();
    // Reads slowly and steadily, which extends nothing.
    while started.elapsed() < response * 2 {
        socket.read_exact(&mut [0; 64]).unwrap();
        thread::sleep(Duration::from_millis(10));
    }
    let rest = read_all(socket).len();
    assert!(rest < 32 << 20, "the rest was never sent");
    is_answered(address);
}

#[test]
fn the_oldest_without_a_request_makes_room() {
    let limits = Limits { connections: 4, unasked_of_peer: 4, ..Limits::default() };
    let (_server, address) = serve(limits, say_path);
    let mut asked = connect(address, GET);
    read_one(&mut asked);
    let mut slow = [(); 3].map(|()| connect(address, "GET"));
    is_answered(address);
    assert_eq!(slow[0].read(&mut [0]).unwrap_or(0), 0, "the oldest was closed");
    for younger in &mut slow[1..] {
        younger.write_all(b" / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        read_one(younger);
    }
    asked.write_all(GET.as_bytes()).unwrap();
    read_one(&mut asked);
}

#[test]
fn one_address_does_not_take_all() {
    let limits = Limits { unasked_of_peer: 2, ..Limits::default() };
    let (_server, address) = serve(limits, say_path);
    let mut slow = [(); 4].map(|()| connect(address, "GET"));
    for older in &mut slow[..2] {
        assert_eq!(older.read(&mut [0]).unwrap_or(0), 0, "those before were closed");
    }
    slow[3].write_all(b" / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    read_one(&mut slow[3]);
    is_answered(address);
}

#[test]
fn those_who_do_not_read_make_room() {
    let limits = Limits { connections: 4, ..Limits::default() };
    let (_server, address) =
        serve(
            limits,
            |request| {
                if request.path == "/large" { large(request) } else { say_path(request) }
            },
        );
    let deaf = || {
        let mut socket = connect(address, &GET.replace(" / ", " /large "));
        // A response that a worker makes keeps its connection; one that is being sent does not.
        socket.read_exact(&mut [0]).unwrap();
        socket
    };
    let _deaf = [(); 4].map(|()| deaf());
    is_answered(address);
}

#[test]
fn what_is_not_read_is_held_in_bounds() {
    let limits = Limits { unsent_bytes: 80 << 20, ..Limits::default() };
    let (_server, address) = serve(limits, large);
    let deaf = [(); 6].map(|()| connect(address, GET_AND_CLOSE));
    thread::sleep(Duration::from_millis(200));
    is_answered(address);
    let whole = deaf.map(|socket| read_all(socket).len() > 32 << 20);
    assert!(whole.iter().filter(|whole| **whole).count() <= 2, "{whole:?}");
}

#[test]
fn answers_are_not_given_up_for_newcomers() {
    let (release, gate) = mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let limits = Limits { connections: 2, workers: 1, ..Limits::default() };
    let (_server, address) = serve(limits, move |request| {
        let _ = gate.lock().unwrap().recv();
        say_path(request)
    });
    let mut waiting = [(); 2].map(|()| connect(address, GET));
    let refused = read_all(connect(address, ""));
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    drop(release);
    for socket in &mut waiting {
        assert!(read_one(socket).starts_with("HTTP/1.1 200 "));
    }
}

#[test]
fn an_answer_that_does_not_come_is_said_to_be_late() {
    let limits = Limits { answer: Duration::from_millis(200), ..Limits::default() };
    let (_server, address) = serve(limits, |request| {
        thread::sleep(Duration::from_secs(2));
        say_path(request)
    });
    let mut socket = connect(address, GET);
    assert!(read_one(&mut socket).starts_with("HTTP/1.1 503 "));
}

#[test]
fn a_handler_that_panics_costs_one_answer() {
    let (_server, address) = serve(Limits { workers: 1, ..Limits::default() }, |request| {
        assert!(request.path == "/", "this is the panic of a test");
        say_path(request)
    });
    let mut socket = connect(address, &GET.replace(" / ", " /other "));
    assert!(read_one(&mut socket).starts_with("HTTP/1.1 500 "));
    is_answered(address);
}

#[test]
fn nobody_waits_for_a_client_at_the_end() {
    let (server, address) = serve(Limits::default(), |request| {
        if request.path == "/slow" {
            thread::sleep(Duration::from_secs(5));
        }
        large(request)
    });
    let _silent = connect(address, "");
    let _half = connect(address, "GET / HT");
    let _deaf = connect(address, GET);
    let _waiting = connect(address, &GET.replace(" / ", " /slow "));
    thread::sleep(Duration::from_millis(200));
    let started = Instant::now();
    drop(server);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert!(TcpStream::connect(address).is_err(), "the address is free");
}
