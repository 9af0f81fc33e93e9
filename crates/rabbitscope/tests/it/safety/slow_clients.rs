//! Clients that open many connections and send one byte a second on each.

use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// A head that they never finish.
const HEAD: &[u8] = b"GET /queues HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const BETWEEN_BYTES: Duration = Duration::from_secs(1);

/// Slow clients. A closed one connects again at once. Dropping this value disconnects all.
pub(crate) struct SlowClients {
    stop: Arc<AtomicBool>,
    dialled: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl SlowClients {
    /// Returns when all have connected.
    pub(crate) fn start(address: &str, count: usize) -> Self {
        let (stop, dialled) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let mut clients = (0..count).map(|_| SlowClient::connect(address)).collect::<Vec<_>>();
        let thread = {
            let (address, stop) = (address.to_owned(), Arc::clone(&stop));
            let dialled = Arc::clone(&dialled);
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let again = clients.iter_mut().filter_map(|client| client.send(&address));
                    dialled.fetch_add(again.count(), Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(20));
                }
            })
        };
        Self { stop, dialled, thread: Some(thread) }
    }

    /// Returns the number of reconnections.
    pub(crate) fn came_back(&self) -> usize {
        self.dialled.load(Ordering::Relaxed)
    }
}

impl Drop for SlowClients {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

struct SlowClient {
    stream: Option<TcpStream>,
    sent: usize,
    next: Instant,
}

impl SlowClient {
    fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).ok();
        if let Some(stream) = &stream {
            stream.set_nonblocking(true).unwrap();
        }
        Self { stream, sent: 0, next: Instant::now() }
    }

    /// Sends a byte when it is due; `Some` if the connection had been closed and was made again.
    fn send(&mut self, address: &str) -> Option<()> {
        if Instant::now() < self.next {
            return None;
        }
        let byte = HEAD.get(self.sent).unwrap_or(&b'x');
        let written = self.stream.as_mut().map(|stream| stream.write(&[*byte]));
        self.sent += 1;
        self.next += BETWEEN_BYTES;
        match written {
            Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => None,
            Some(Ok(_)) => None,
            _ => {
                *self = Self::connect(address);
                Some(())
            }
        }
    }
}
