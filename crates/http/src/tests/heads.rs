//! Heads that are no requests, and requests from pages of other sites.

use super::*;
use crate::request::{MAX_HEAD_BYTES, MAX_HEADERS};

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

#[test]
fn what_is_no_request() {
    let (_server, address) = serve(Limits::default(), say_path);
    let check = |text: &str, expected: &str| {
        assert_eq!(status(&read_all(connect(address, text))), expected, "{text:.100}");
    };
    for text in [
        "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA : y\r\n\r\n",
        "GET x HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://u@x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
        "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
        "\u{16}\u{3}\u{1}",
    ] {
        check(text, "400");
    }
    let endless = format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(MAX_HEAD_BYTES));
    check(&endless, "431");
    let headers = "X: y\r\n".repeat(MAX_HEADERS + 1);
    check(&format!("GET / HTTP/1.1\r\n{headers}\r\n"), "431");
    let long = "y".repeat(8 << 10);
    check(&format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"), "414");
    check("GET / HTTP/1.0\r\n\r\n", "200");
    // The beginning of HTTP/2 is not answered.
    check("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "");
}

#[test]
fn whatever_stands_in_a_head_it_is_answered_or_closed() {
    let (_server, address) = serve(Limits::default(), say_path);
    let head =
        b"GET http://[::1]:80/a?b=%2f&c HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n";
    for position in 0..head.len() {
        for byte in [0, b'\r', b'\n', b' ', b':', b'/', b'%', b'A', 0x7f, 0x80, 0xff] {
            let mut changed = head.to_vec();
            changed[position] = byte;
            let mut socket = connect(address, "");
            socket.write_all(&changed).unwrap();
            // A head that is not complete ends here.
            socket.shutdown(std::net::Shutdown::Write).unwrap();
            let answer = read_all(socket);
            assert!(answer.is_empty() || answer.starts_with("HTTP/1."), "{answer}");
        }
    }
    is_answered(address);
}

#[test]
fn a_client_that_sends_nothing_more_is_answered() {
    let (_server, address) = serve(Limits::default(), |request| {
        thread::sleep(Duration::from_millis(200));
        say_path(request)
    });
    let socket = connect(address, GET);
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(status(&read_all(socket)), "200");
}

#[test]
fn pages_of_other_sites_are_refused() {
    let (_server, address) = serve(Limits::default(), say_path);
    let check = |headers: &str, expected: &str| {
        let request = format!("GET / HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
        let answer = read_all(connect(address, &request));
        assert_eq!(status(&answer), expected, "{headers}");
        assert!(!answer.to_lowercase().contains("access-control"), "{answer}");
    };
    let own = format!("Host: {address}\r\n");
    check(&own, "200");
    check(&format!("{own}Origin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n"), "200");
    check(&format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: document\r\n"), "200");
    check(&format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: empty\r\n"), "403");
    check(&format!("{own}Sec-Fetch-Site: same-site\r\nSec-Fetch-Dest: iframe\r\n"), "403");
    check(&format!("{own}Origin: http://127.0.0.1:1\r\n"), "403");
    check(&format!("{own}Origin: null\r\n"), "403");
    check("Host: evil.example\r\nOrigin: http://evil.example\r\n", "421");
}

#[test]
fn a_path_without_the_token_leads_nowhere() {
    let address = "127.0.0.1:0".parse().unwrap();
    let asked = ListenOptions { address, auth_file: None, auth_option: "", hosts: Vec::new() };
    let listener = Listener::bind(asked).unwrap().with_path_token().unwrap();
    let url = listener.url().unwrap();
    let server = Server::start(listener, Limits::default(), say_path).unwrap();
    let address = server.address();
    let prefix = url.strip_prefix(&format!("http://{address}")).unwrap().to_owned();
    assert_eq!(prefix.len(), 34, "{url}");
    let answer = |path: &str| {
        read_all(connect(address, &GET_AND_CLOSE.replace(" / ", &format!(" {path} "))))
    };
    assert!(answer(&format!("{prefix}runs/a?b")).ends_with("\r\n\r\n/runs/a\n"));
    assert!(answer(&prefix).ends_with("\r\n\r\n/\n"));
    let mut other = prefix.clone();
    other.replace_range(1..2, if prefix.starts_with("/A") { "B" } else { "A" });
    for wrong in ["/", "/runs/a", "//", &prefix[..33], &other] {
        assert_eq!(status(&answer(wrong)), "404", "{wrong}");
    }
    assert!(answer("/").contains("Referrer-Policy: no-referrer\r\n"));
}
