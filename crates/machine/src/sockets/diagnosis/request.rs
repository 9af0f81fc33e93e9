//! The request for TCP sockets (`struct inet_diag_req_v2` of `<linux/inet_diag.h>`).

use std::net::{IpAddr, SocketAddr};

/// Address families.
pub const IPV4: u8 = 2;
/// See [`IPV4`].
pub const IPV6: u8 = 10;

/// `SOCK_DIAG_BY_FAMILY`.
pub(super) const BY_FAMILY: u16 = 20;

/// `NLM_F_REQUEST`, and with `NLM_F_DUMP` for all sockets.
const REQUEST: u16 = 1;
const REQUEST_DUMP: u16 = 0x301;

/// `INET_DIAG_REQ_BYTECODE`: the attribute with the program.
const PROGRAM: u16 = 1;

/// Bytes of an attribute's header.
const ATTRIBUTE_HEADER: usize = 4;

const TCP: u8 = 6;

/// Bytes of `struct inet_diag_sockid`.
const SOCKET_ID_BYTES: usize = 48;

/// The cookie of a request for a socket whose cookie is unknown (`INET_DIAG_NOCOOKIE`).
const NO_COOKIE: [u8; 8] = [0xff; 8];

/// A request.
#[derive(Clone, Debug)]
pub struct DiagnosisRequest {
    family: u8,
    states: u32,
    attributes: u8,
    program: Vec<u8>,
    ends: Option<(SocketAddr, SocketAddr)>,
}

impl DiagnosisRequest {
    /// Requests all sockets of a family ([`IPV4`] or [`IPV6`]) in these states, by their numbers in
    /// `<net/tcp_states.h>`.
    pub fn all(family: u8, states: impl IntoIterator<Item = u8>) -> Self {
        let states = states.into_iter().map(|state| 1 << state).sum();
        Self { family, states, attributes: 0, program: Vec::new(), ends: None }
    }

    /// Requests the one socket with these ends, or the listener that would accept such a connection. The kernel takes
    /// IPv4 for sockets of IPv6 with mapped addresses, too.
    pub fn one(local: SocketAddr, remote: SocketAddr) -> Self {
        let family = if local.is_ipv4() { IPV4 } else { IPV6 };
        let ends = Some((local, remote));
        Self { family, states: u32::MAX, attributes: 0, program: Vec::new(), ends }
    }

    /// Requests attributes of each socket, by `INET_DIAG_…`.
    #[must_use]
    pub fn with_attributes(mut self, attributes: &[u16]) -> Self {
        self.attributes = attributes.iter().map(|kind| 1 << (kind - 1)).sum();
        self
    }

    /// Adds a program by which the kernel selects sockets (`struct inet_diag_bc_op`).
    #[must_use]
    pub fn with_program(mut self, program: Vec<u8>) -> Self {
        self.program = program;
        self
    }

    /// Returns whether the answer has any number of sockets, and a message at its end.
    pub(super) fn is_dump(&self) -> bool {
        self.ends.is_none()
    }

    /// Returns the message. All messages of the answer have the number `sequence`.
    pub(super) fn message(&self, sequence: u32) -> Vec<u8> {
        let flags = if self.is_dump() { REQUEST_DUMP } else { REQUEST };
        let mut message = Vec::with_capacity(80 + self.program.len());
        message.extend([0; 4]);
        message.extend(BY_FAMILY.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend(sequence.to_ne_bytes());
        // The sender is this socket.
        message.extend([0; 4]);
        message.extend([self.family, TCP, self.attributes, 0]);
        message.extend(self.states.to_ne_bytes());
        match self.ends {
            Some((local, remote)) => socket_id(&mut message, local, remote),
            // Ports, addresses, interface, cookie: no restriction.
            None => message.extend([0; SOCKET_ID_BYTES]),
        }
        if !self.program.is_empty() {
            message.extend(length(ATTRIBUTE_HEADER + self.program.len()).to_ne_bytes());
            message.extend(PROGRAM.to_ne_bytes());
            message.extend(&self.program);
        }
        let bytes = u32::from(length(message.len())).to_ne_bytes();
        message[..4].copy_from_slice(&bytes);
        message
    }
}

fn socket_id(message: &mut Vec<u8>, local: SocketAddr, remote: SocketAddr) {
    message.extend(local.port().to_be_bytes());
    message.extend(remote.port().to_be_bytes());
    for end in [local, remote] {
        let mut address = [0; 16];
        match end.ip() {
            IpAddr::V4(ip) => address[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => address = ip.octets(),
        }
        message.extend(address);
    }
    // Any interface.
    message.extend([0; 4]);
    message.extend(NO_COOKIE);
}

fn length(bytes: usize) -> u16 {
    u16::try_from(bytes).expect("a request is short")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_its_length() {
        let end = |text: &str| text.parse().unwrap();
        let all = DiagnosisRequest::all(IPV6, [1, 10]);
        let requests = [
            (all.clone(), 72),
            (all.clone().with_program(vec![0; 12]), 88),
            (all.with_attributes(&[2]).with_program(vec![0; 1528]), 1604),
            (DiagnosisRequest::one(end("127.0.0.1:1"), end("127.0.0.1:2")), 72),
            (DiagnosisRequest::one(end("[::1]:1"), end("[::1]:2")), 72),
        ];
        for (request, expected) in requests {
            let message = request.message(7);
            let stated = u32::from_ne_bytes(*message.first_chunk().unwrap());
            assert_eq!((stated as usize, message.len()), (expected, expected));
        }
    }
}
