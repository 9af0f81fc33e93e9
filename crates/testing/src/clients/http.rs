//! Requests over HTTP, one for each connection.

use std::{
    io::{Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

/// Sends a request, and returns the whole answer.
#[track_caller]
pub fn ask(address: impl ToSocketAddrs, request: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

/// Requests a path with additional headers, and returns the whole answer.
#[track_caller]
pub fn get(address: impl ToSocketAddrs, path: &str, headers: &str) -> String {
    let own = "Host: localhost\r\nConnection: close";
    ask(address, &format!("GET {path} HTTP/1.1\r\n{own}\r\n{headers}\r\n"))
}

/// Splits an answer into status and body.
#[track_caller]
pub fn parts(answer: &str) -> (u16, &str) {
    let status = answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}"));
    (status.parse().unwrap(), answer.split_once("\r\n\r\n").unwrap().1)
}
