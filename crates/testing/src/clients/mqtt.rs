//! A client of MQTT 3.1.1.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// Connects as the client `device`.
pub fn mqtt_client(port: u16, user: &str, password: &str) -> TcpStream {
    let text =
        |text: &str| [&u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat();
    // Version, a clean session with user and password, keep alive for a minute.
    let rest = [text("MQTT"), vec![4, 0xc2, 0, 60], text("device"), text(user), text(password)];
    let rest = rest.concat();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let connect = [&[0x10, u8::try_from(rest.len()).unwrap()][..], &rest].concat();
    stream.write_all(&connect).unwrap();
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [0x20, 2, 0, 0]);
    stream
}
