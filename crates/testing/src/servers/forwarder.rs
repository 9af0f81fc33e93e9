//! An address that leads to one broker now and to another later, as with `ssh -L` or a container's port.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use rabbitscope_broker::Broker;

/// A forwarder that listens for the rest of the test.
pub struct Forwarder {
    /// The address at which it listens.
    pub address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    /// Bytes that may still come back from the target.
    left: Arc<AtomicU64>,
}

impl Forwarder {
    /// Forwards to an address.
    pub fn new(target: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (target, left) = (Arc::new(Mutex::new(target)), Arc::new(AtomicU64::new(u64::MAX)));
        let (current, limit) = (Arc::clone(&target), Arc::clone(&left));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let other = TcpStream::connect(*current.lock().unwrap()).unwrap();
                let back = (other.try_clone().unwrap(), client.try_clone().unwrap());
                let limit = Arc::clone(&limit);
                thread::spawn(move || hand_on(client, other, &AtomicU64::new(u64::MAX)));
                thread::spawn(move || hand_on(back.0, back.1, &limit));
            }
        });
        Self { address, target, left }
    }

    /// Directs new connections to this broker.
    pub fn turn_to(&self, broker: &Broker) {
        *self.target.lock().unwrap() = broker.address();
    }

    /// Breaks all connections once this number of bytes has come back.
    pub fn break_after(&self, bytes: u64) {
        self.left.store(bytes, Ordering::Relaxed);
    }

    /// Returns a URI of this address with the login of `broker`.
    pub fn uri(&self, broker: &Broker) -> String {
        let port = |address: SocketAddr| format!(":{}/", address.port());
        broker.uri().replace(&port(broker.address()), &port(self.address))
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, left: &AtomicU64) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let before = left.load(Ordering::Relaxed);
        let passed = usize::try_from(before).unwrap_or(usize::MAX).min(count);
        if before < u64::MAX {
            left.store(before.saturating_sub(count as u64), Ordering::Relaxed);
        }
        if to.write_all(&buffer[..passed]).is_err() {
            break;
        }
        if passed < count {
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
