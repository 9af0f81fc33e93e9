//! Servers that are slow, answer with garbage or refuse: reported once, bounded in time, without a storm.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_testing::within;

use crate::material::{now_millis, snapshot, start};

/// A server that answers every connection in the same way until the test program ends.
struct Backend {
    address: SocketAddr,
    connections: Arc<AtomicU64>,
}

impl Backend {
    fn answering(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::<AtomicU64>::default();
        let (counted, answer) = (Arc::clone(&connections), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::Relaxed);
                let answer = Arc::clone(&answer);
                thread::spawn(move || answer(stream));
            }
        });
        Self { address, connections }
    }

    /// Creates a server that reads a request, as far as it arrives at once, and sends this text.
    fn saying(text: &'static [u8]) -> Self {
        Self::answering(move |mut stream| {
            let _ = stream.read(&mut vec![0; 65536]);
            let _ = stream.write_all(text);
        })
    }
}

/// Offers five snapshots to a backend that fails for `reason`, and checks its figures, connections and notice.
fn check(backend: &Backend, reason: &str, is_dropped: bool, expected: &str) {
    let text = format!(
        "[[exporters]]\nkind = 'remote-write'\nurl = 'http://{}'\ntimeout = '300ms'",
        backend.address
    );
    let exporters = start(&text);
    for second in 0..5 {
        exporters.offer_metrics(snapshot(now_millis() + second * 1000, second));
    }
    let begin = Instant::now();
    let figures = || exporters.figures().remove(0);
    let attempts = || figures().errors.get(reason).copied().unwrap_or_default();
    within(Duration::from_secs(20), reason, || attempts() >= 4);
    let figures = figures();
    assert_eq!(figures.sent, 0, "{figures:?}");
    assert_eq!(figures.dropped.get(reason).copied().unwrap_or_default() > 0, is_dropped);
    // The tests' pauses are at least 25 ms, then 50, then 100 each.
    let most = 2 + begin.elapsed().as_millis() / 25;
    let connections = backend.connections.load(Ordering::Relaxed);
    assert!(u128::from(connections) <= most, "{connections} connections");
    let notices = exporters.take_notices();
    assert_eq!(notices.len(), 1, "{notices:#?}");
    assert!(notices[0].contains(expected), "{notices:#?}");
    let begin = Instant::now();
    let figures = exporters.finish(Duration::ZERO).remove(0);
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(figures.dropped_total(), 5, "nothing is forgotten: {figures:?}");
}

#[test]
fn nobody_answers() {
    let silent = Backend::answering(|stream| {
        thread::sleep(Duration::from_secs(60));
        drop(stream);
    });
    check(&silent, "timeout", false, "gives no answer in time");
}

#[test]
fn an_answer_comes_byte_by_byte() {
    let slow = Backend::answering(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    check(&slow, "timeout", false, "gives no answer in time");
}

#[test]
fn an_answer_is_garbage() {
    let garbage = Backend::saying(b"\x00\x01\x02 this is no HTTP\r\n\r\n");
    check(&garbage, "not-http", false, "not HTTP");
}

#[test]
fn an_answer_has_no_end() {
    let endless = Backend::answering(|mut stream| {
        let _ = stream.read(&mut vec![0; 65536]);
        let _ = stream.write_all(b"HTTP/1.1 500 Broken\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 65536], b"\r\n"].concat();
        while stream.write_all(&chunk).is_ok() {}
    });
    check(&endless, "server-error", false, "answers with status 500");
}

#[test]
fn a_connection_is_closed_without_an_answer() {
    check(&Backend::saying(b""), "closed", false, "closes the connection");
}

#[test]
fn a_request_is_refused() {
    let refusing = Backend::saying(
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 22\r\nConnection: close\r\n\r\nno\x1b[2J such\nlabel: x!!!",
    );
    check(&refusing, "refused", true, "answers with status 400 and says: no\\x1b[2J such label");
}

#[test]
fn a_redirect_is_not_followed() {
    let pointing = Backend::saying(
        b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    check(&pointing, "redirect", true, "redirects are not followed");
}

#[test]
fn too_many_requests_wait_as_long_as_asked() {
    let busy = Backend::saying(
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    let begin = Instant::now();
    check(&busy, "too-many-requests", false, "answers with status 429");
    assert!(begin.elapsed() >= Duration::from_secs(3), "{:?}", begin.elapsed());
}
