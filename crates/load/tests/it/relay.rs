//! A relay between the load and the real broker that forwards bytes and damages one connection.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Damage to the second connection, the publisher's, half a second after it was made.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    /// Sends these bytes to the client, then forwards the broker's bytes.
    Inject(Vec<u8>),
    /// Sends these bytes to the client, then nothing more.
    InjectAndStall(Vec<u8>),
    /// Closes the socket without a message.
    Close,
}

const DELAY: Duration = Duration::from_millis(500);

/// Starts listening until the end of the test. Returns the address.
pub(crate) fn start(broker: SocketAddr, damage: Damage) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let client = client.unwrap();
            let broker = TcpStream::connect(broker).unwrap();
            let (from_client, to_client) = (client.try_clone().unwrap(), client);
            let (from_broker, to_broker) = (broker.try_clone().unwrap(), broker);
            let is_silent = Arc::new(AtomicBool::new(false));
            if number == 1 {
                let (damage, client) = (damage.clone(), to_client.try_clone().unwrap());
                let is_silent = Arc::clone(&is_silent);
                thread::spawn(move || harm(&damage, client, &is_silent));
            }
            thread::spawn(move || hand_on(from_client, to_broker, &AtomicBool::new(false)));
            thread::spawn(move || hand_on(from_broker, to_client, &is_silent));
        }
    });
    address
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, is_silent: &AtomicBool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if !is_silent.load(Ordering::Relaxed) && to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    if !is_silent.load(Ordering::Relaxed) {
        to.shutdown(Shutdown::Write).ok();
    }
}

/// Applies the damage. The broker sends only heartbeats to a publisher without confirms, so injected bytes stand
/// between frames.
fn harm(damage: &Damage, mut client: TcpStream, is_silent: &AtomicBool) {
    thread::sleep(DELAY);
    match damage {
        Damage::Inject(bytes) => client.write_all(bytes).unwrap(),
        Damage::InjectAndStall(bytes) => {
            is_silent.store(true, Ordering::Relaxed);
            client.write_all(bytes).unwrap();
        }
        Damage::Close => client.shutdown(Shutdown::Both).unwrap(),
    }
}
