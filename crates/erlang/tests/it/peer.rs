//! Peers that are no nodes: they send garbage, or stop in the middle. Each is an error in bounded
//! time.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{ConnectOptions, Connection, CookieSource, ErlangError, NodeName, Port};

const WITHIN: Duration = Duration::from_millis(500);

/// A peer that sends these bytes to whoever comes, then closes or stays silent.
fn peer(bytes: Vec<u8>, stays: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(&bytes);
        // Bounded by the test's own end of the connection.
        while stays && stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    });
    port
}

fn outcome(port: Port) -> ErlangError {
    let cookie = std::env::temp_dir().join(format!("rabbitscope-peer-{}", std::process::id()));
    std::fs::write(&cookie, "secret").unwrap();
    let options = ConnectOptions {
        cookie: CookieSource::File(cookie),
        port,
        within: WITHIN,
        ..ConnectOptions::new(NodeName::parse("rabbit@127.0.0.1").unwrap())
    };
    let began = Instant::now();
    let error = Connection::open(&options).unwrap_err();
    assert!(began.elapsed() < WITHIN + Duration::from_millis(500), "{:?}", began.elapsed());
    assert!(!error.to_string().contains("secret"));
    error
}

#[test]
fn garbage_and_silence_instead_of_a_handshake() {
    fn check(bytes: &[u8], stays: bool, expected: &str) {
        for port in [Port::Fixed, Port::Mapped] {
            let error = outcome(port(peer(bytes.to_vec(), stays))).to_string();
            let expected = if port(0) == Port::Fixed(0) { expected } else { "port mapper" };
            assert!(error.contains(expected), "{bytes:?}: {error}");
        }
    }
    check(b"", true, "no answer in time");
    check(b"", false, "closed");
    check(b"H", true, "no answer in time");
    check(b"HTTP/1.1 400 Bad Request\r\n\r\n", true, "no part of a handshake");
    check(&[0, 3, b's', b'o'], true, "no answer in time");
    check(&[255; 4096], true, "no part of a handshake");
}

/// A node as far as the handshake goes: it knows the cookie.
fn knowing_peer(after: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let read = |stream: &mut std::net::TcpStream| {
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let mut message = vec![0; u16::from_be_bytes(length).into()];
            stream.read_exact(&mut message).unwrap();
            message
        };
        read(&mut stream);
        let name = b"rabbit@127.0.0.1";
        let challenge = [&[0, 3][..], b"sok", &[0, 35], b"N", &[0; 17], &[16], name].concat();
        stream.write_all(&challenge).unwrap();
        let answer = read(&mut stream);
        let theirs = u32::from_be_bytes(answer[1..5].try_into().unwrap());
        let digest = md5_of(&format!("secret{theirs}"));
        stream.write_all(&[&[0, 17, b'a'][..], &digest].concat()).unwrap();
        stream.write_all(&after).unwrap();
        while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    });
    port
}

fn md5_of(text: &str) -> Vec<u8> {
    use md5::Digest;
    md5::Md5::digest(text).to_vec()
}

#[test]
fn garbage_and_silence_after_the_handshake() {
    let check = |bytes: &[u8], says: &str| {
        let error = outcome_within(knowing_peer(bytes.to_vec()), Duration::from_secs(8));
        assert!(error.to_string().contains(says), "{bytes:?}: {error}");
    };
    check(&[255; 64], "frame of 4294967295 bytes");
    check(&[0, 0, 0, 2, 131, 68], "frame is not well-formed");
    check(&[0, 0, 0, 4, 112, 131, 104, 9], "ends too early");
    // It stops in the middle of a frame, and answers nothing.
    check(&[0, 0, 1, 0, 112, 131], "no answer");
}

fn outcome_within(port: u16, within: Duration) -> ErlangError {
    let cookie = std::env::temp_dir().join(format!("rabbitscope-knows-{}", std::process::id()));
    std::fs::write(&cookie, "secret").unwrap();
    let options = ConnectOptions {
        cookie: CookieSource::File(cookie),
        port: Port::Fixed(port),
        ..ConnectOptions::new(NodeName::parse("rabbit@127.0.0.1").unwrap())
    };
    let began = Instant::now();
    let error = Connection::open(&options).unwrap_err();
    assert!(began.elapsed() < within, "{:?}", began.elapsed());
    error
}
