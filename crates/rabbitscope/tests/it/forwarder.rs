//! An address that leads to one broker now and to another later, as with `ssh -L` or a container's port.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use rabbitscope_broker::Broker;

/// A forwarder that listens for the rest of the test.
pub(crate) struct Forwarder {
    address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
}

impl Forwarder {
    pub(crate) fn to(broker: &Broker) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let target = Arc::new(Mutex::new(broker.address()));
        let current = Arc::clone(&target);
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let broker = TcpStream::connect(*current.lock().unwrap()).unwrap();
                let back = (broker.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || hand_on(client, broker));
                thread::spawn(move || hand_on(back.0, back.1));
            }
        });
        Self { address, target }
    }

    /// Directs new connections to this broker.
    pub(crate) fn turn_to(&self, broker: &Broker) {
        *self.target.lock().unwrap() = broker.address();
    }

    /// Returns a URI of this address with the login of `broker`.
    pub(crate) fn uri(&self, broker: &Broker) -> String {
        let port = |address: SocketAddr| format!(":{}/", address.port());
        broker.uri().replace(&port(broker.address()), &port(self.address))
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Write).ok();
}
