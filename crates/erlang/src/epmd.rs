//! The port mapper (epmd), which knows the port of each node.
//! Source: "EPMD Protocol" in the ERTS user's guide, "Distribution Protocol".

use std::{
    io::{self, Read, Write},
    net::SocketAddr,
    time::Instant,
};

use crate::{ErlangError, NodeName, distribution::Timed};

/// The default port of a port mapper.
pub(crate) const PORT: u16 = 4369;

const PORT_REQUEST: u8 = 122;
const NAMES_REQUEST: u8 = 110;
const PORT_ANSWER: u8 = 119;

/// The version of the distribution protocol since OTP 23.
const VERSION: u16 = 6;

/// Size limit of the list of names: enough for about a thousand nodes on one machine.
const MAX_NAME_BYTES: u64 = 64 << 10;

/// Asks for the port that the node listens on.
pub(crate) fn port_of(
    node: &NodeName,
    addresses: &[SocketAddr],
    deadline: Instant,
) -> Result<u16, ErlangError> {
    let address = shown(node, addresses);
    let unreachable = |error: io::Error| ErlangError::NoPortMapper {
        address: address.clone(),
        reason: error.to_string(),
    };
    let name = node.name().as_bytes();
    let mut stream = ask(addresses, PORT_REQUEST, name, deadline).map_err(unreachable)?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).map_err(unreachable)?;
    if answer != [PORT_ANSWER, 0] {
        let known = names(addresses, deadline).unwrap_or_default();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(" ") };
        return Err(ErlangError::UnknownNode { address, name: node.name().to_owned(), known });
    }
    let mut facts = [0; 8];
    stream.read_exact(&mut facts).map_err(unreachable)?;
    let [port_high, port_low, _type, _protocol, highest_high, highest_low, ..] = facts;
    let highest = u16::from_be_bytes([highest_high, highest_low]);
    if highest < VERSION {
        let reason =
            format!("it supports at most {highest}, but {VERSION} is required (OTP 23 or later)");
        return Err(ErlangError::Version { node: node.to_string(), reason });
    }
    Ok(u16::from_be_bytes([port_high, port_low]))
}

fn shown(node: &NodeName, addresses: &[SocketAddr]) -> String {
    let port = addresses.first().map_or(PORT, SocketAddr::port);
    format!("{}:{port}", node.host())
}

fn ask(
    addresses: &[SocketAddr],
    request: u8,
    argument: &[u8],
    deadline: Instant,
) -> io::Result<Timed> {
    let mut stream = Timed::connect(addresses, deadline)?;
    let length = u16::try_from(argument.len() + 1).expect("a name has at most 255 characters");
    stream.write_all(&[&length.to_be_bytes(), &[request][..], argument].concat())?;
    Ok(stream)
}

/// Returns all names that the port mapper knows.
fn names(addresses: &[SocketAddr], deadline: Instant) -> io::Result<Vec<String>> {
    let mut text = Vec::new();
    ask(addresses, NAMES_REQUEST, &[], deadline)?.take(MAX_NAME_BYTES).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(text.get(4..).unwrap_or_default()).into_owned();
    // A line reads `name rabbit at port 25672`.
    let name = |line: &str| line.split(' ').nth(1).map(str::to_owned);
    Ok(text.lines().filter_map(name).collect())
}
