//! Peers that are no nodes send garbage or stop in the middle. Each causes an error in bounded time.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{ConnectOptions, Connection, CookieSource, ErlangError, NodeName, Port};

const WITHIN: Duration = Duration::from_millis(500);

/// A peer that sends these bytes to its first client, then closes or stays silent.
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
    let cookie = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&cookie, "secret").unwrap();
    let options = ConnectOptions {
        cookie: CookieSource::File(cookie.path().to_owned()),
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
    check(b"HTTP/1.1 400 Bad Request\r\n\r\n", true, "cannot belong to a handshake");
    check(&[0, 3, b's', b'o'], true, "no answer in time");
    check(&[255; 4096], true, "cannot belong to a handshake");
}

/// A peer that knows the cookie and completes the handshake like a node.
fn knowing_peer(after: Vec<u8>) -> u16 {
    peer_that(move |mut stream| {
        stream.write_all(&after).unwrap();
        while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    })
}

/// A peer that completes the handshake, then calls `does`.
fn peer_that(does: impl FnOnce(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let read = |stream: &mut TcpStream| {
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
        does(stream);
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
    // The peer stops in the middle of a frame and does not answer.
    check(&[0, 0, 1, 0, 112, 131], "no answer");
}

fn outcome_within(port: u16, within: Duration) -> ErlangError {
    let cookie = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&cookie, "secret").unwrap();
    let options = ConnectOptions {
        cookie: CookieSource::File(cookie.path().to_owned()),
        port: Port::Fixed(port),
        ..ConnectOptions::new(NodeName::parse("rabbit@127.0.0.1").unwrap())
    };
    let began = Instant::now();
    let error = Connection::open(&options).unwrap_err();
    assert!(began.elapsed() < within, "{:?}", began.elapsed());
    error
}

/// Frames of `{2, '', Pid}` and a message, repeated.
fn flood_to(pid: &[u8], message: &[u8]) -> Vec<u8> {
    let control = [&[112, 131, 104, 3, 97, 2, 119, 0][..], pid, message].concat();
    let frame = [&u32::try_from(control.len()).unwrap().to_be_bytes()[..], &control].concat();
    frame.repeat(1 + (256 << 10) / frame.len())
}

/// A peer that reads like a node and sends without end, and the times at which it received ticks.
fn flooding_peer(message: &'static [u8], to_us: bool) -> (u16, mpsc::Receiver<Instant>) {
    let (ticked, ticks) = mpsc::channel();
    let port = peer_that(move |mut stream| {
        let mut asked = vec![0; 4096];
        let count = stream.read(&mut asked).unwrap();
        // The pid of the first call's mailbox: NEW_PID_EXT with a short atom.
        let start = asked[..count].windows(2).position(|pair| pair == [88, 119]).unwrap();
        let length = 3 + usize::from(asked[start + 2]) + 12;
        let mut pid = asked[start..start + length].to_vec();
        if !to_us {
            pid[length - 12] ^= 0x7f;
        }
        let mut writer = stream.try_clone().unwrap();
        let flood = flood_to(&pid, message);
        thread::spawn(move || while writer.write_all(&flood).is_ok() {});
        let mut bytes = [0; 4];
        while stream.read_exact(&mut bytes).is_ok() {
            let length = u32::from_be_bytes(bytes);
            if length == 0 {
                let _ = ticked.send(Instant::now());
            }
            std::io::copy(&mut Read::by_ref(&mut stream).take(length.into()), &mut std::io::sink())
                .unwrap();
        }
    });
    (port, ticks)
}

/// Resident memory in MiB.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// The first call has five seconds, during which ticks go out once a second.
#[test]
fn a_peer_that_sends_without_end_does_not_keep_us_from_anything() {
    let (port, ticks) = flooding_peer(&[131, 106], false);
    let began = Instant::now();
    let error = outcome_within(port, Duration::from_secs(8));
    assert!(error.to_string().contains("no answer"), "{error}");
    let seen: Vec<f64> = ticks.try_iter().map(|time| (time - began).as_secs_f64()).collect();
    assert!(seen.len() >= 4, "{seen:?}");
    assert!(seen.windows(2).all(|pair| pair[1] - pair[0] < 2.0), "{seen:?}");
}

/// A million small messages cost as much as a few large ones.
#[test]
fn a_mailbox_that_is_flooded_takes_bounded_memory_and_time() {
    let before = resident_mib();
    let (port, _ticks) = flooding_peer(&[131, 106], true);
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(outcome_within(port, Duration::from_secs(8)).to_string()));
    let mut most = 0;
    let began = Instant::now();
    let error = loop {
        most = most.max(resident_mib());
        assert!(began.elapsed() < Duration::from_secs(20), "it never ends");
        if let Ok(error) = end.recv_timeout(Duration::from_millis(10)) {
            break error;
        }
    };
    assert!(most < before + 256, "from {before} to {most} MiB");
    assert!(error.contains("no answer") || error.contains("MiB"), "{error}");
}
