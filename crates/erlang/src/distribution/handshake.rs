//! The handshake, version 6, of the connecting side.
//! Source: "Distribution Handshake" in the ERTS user's guide.
//!
//! ```text
//! us ── name, flags ──►        node
//!    ◄── status ────────
//!    ◄── challenge ─────
//!    ── our challenge, digest of theirs ──►
//!    ◄── digest of ours ─
//! ```

use std::io::{self, Read, Write};

use md5::{Digest, Md5};

use super::flags;
use crate::{Cookie, ErlangError, NodeName};

/// The identity of the hidden node.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) name: String,
    pub(crate) creation: u32,
    /// The challenge for the node.
    pub(crate) challenge: u32,
}

/// The challenge of the node, with its name and flags.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Greeting {
    name: String,
    challenge: u32,
}

/// Size limit of a handshake message: a name of at most 255 characters and some numbers.
const MAX_BYTES: usize = 4 << 10;

/// First two bytes of an alert of TLS 1.0 to 1.3, which a TLS server sends in answer to a plain-text handshake.
const TLS_ALERT: usize = 0x1503;

/// The size of the length before each handshake message. Frames have four bytes of length in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// Over TCP.
    TwoBytes,
    /// Over TLS, as `inet_tls_dist` sends it.
    FourBytes,
}

/// Performs the handshake, in which both sides prove that they know the cookie; the first frame follows. With the
/// answer to its challenge a peer could log in at the real node, so `verify` may refuse the peer before the answer.
pub(crate) fn shake_hands(
    stream: &mut (impl Read + Write),
    prefix: Prefix,
    node: &NodeName,
    visitor: &Visitor,
    cookie: &Cookie,
    verify: &dyn Fn() -> Result<(), ErlangError>,
) -> Result<(), ErlangError> {
    let broke_off = |doing: &'static str| {
        move |error: io::Error| ErlangError::Handshake {
            node: node.to_string(),
            doing,
            reason: reason_of(&error),
        }
    };
    prefix
        .send(stream, &introduction(visitor))
        .map_err(broke_off("receiving this program's name"))?;
    let status = prefix.receive(stream).map_err(broke_off("deciding about the connection"))?;
    check_status(node, &status)?;
    let challenge = prefix.receive(stream).map_err(broke_off("sending its challenge"))?;
    let greeting = greeting_of(node, &challenge)?;
    verify()?;
    let answer = [&b"r"[..], &visitor.challenge.to_be_bytes(), &digest(cookie, greeting.challenge)];
    prefix
        .send(stream, &answer.concat())
        .map_err(broke_off("receiving the answer to its challenge"))?;
    let proof = prefix.receive(stream).map_err(|error| match error.kind() {
        // A node reports a wrong digest in this way.
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            ErlangError::CookieRefused {
                node: node.to_string(),
                origin: cookie.origin().to_owned(),
            }
        }
        _ => broke_off("proving that it knows the cookie")(error),
    })?;
    if proof.split_first() != Some((&b'a', &digest(cookie, visitor.challenge)[..])) {
        return Err(ErlangError::Unproven {
            node: node.to_string(),
            origin: cookie.origin().to_owned(),
        });
    }
    Ok(())
}

fn reason_of(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe => "it closed the connection".to_owned(),
        io::ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => error.to_string(),
    }
}

fn introduction(visitor: &Visitor) -> Vec<u8> {
    let length = u16::try_from(visitor.name.len()).expect("a name has at most 255 characters");
    [
        &b"N"[..],
        &flags::OURS.to_be_bytes(),
        &visitor.creation.to_be_bytes(),
        &length.to_be_bytes(),
        visitor.name.as_bytes(),
    ]
    .concat()
}

fn check_status(node: &NodeName, message: &[u8]) -> Result<(), ErlangError> {
    let refused = |reason: &str| ErlangError::NotAllowed {
        node: node.to_string(),
        reason: reason.to_owned(),
    };
    match message {
        b"sok" | b"sok_simultaneous" => Ok(()),
        b"snok" | b"salive" => Err(ErlangError::NameTaken { node: node.to_string() }),
        b"snot_allowed" => Err(refused("its list of allowed nodes does not include this program")),
        other => Err(refused(&format!("it said {:?}", String::from_utf8_lossy(other)))),
    }
}

fn greeting_of(node: &NodeName, message: &[u8]) -> Result<Greeting, ErlangError> {
    let version = |reason: String| ErlangError::Version { node: node.to_string(), reason };
    // `N`, flags 8, challenge 4, creation 4, length 2, name.
    let [b'N', fields @ ..] = message else {
        return Err(version("it does not support the handshake of OTP 23 and later".to_owned()));
    };
    let parsed = fields.split_first_chunk::<8>().and_then(|(_flags, rest)| {
        let (challenge, rest) = rest.split_first_chunk::<4>()?;
        let (_creation, rest) = rest.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let name = rest.get(..u16::from_be_bytes(*length).into())?;
        let name = String::from_utf8_lossy(name).into_owned();
        Some(Greeting { name, challenge: u32::from_be_bytes(*challenge) })
    });
    let greeting = parsed.ok_or_else(|| version("its challenge is too short".to_owned()))?;
    if greeting.name != node.to_string() {
        let reason = format!("it calls itself {}", greeting.name);
        return Err(ErlangError::NotAllowed { node: node.to_string(), reason });
    }
    Ok(greeting)
}

/// Computes the MD5 digest of the cookie and the challenge in decimal digits, as the protocol defines it.
fn digest(cookie: &Cookie, challenge: u32) -> [u8; 16] {
    let mut hash = Md5::new();
    hash.update(cookie.secret());
    hash.update(challenge.to_string());
    hash.finalize().into()
}

impl Prefix {
    fn send(self, stream: &mut impl Write, message: &[u8]) -> io::Result<()> {
        let length = u16::try_from(message.len()).expect("messages of the handshake are short");
        let length = match self {
            Self::TwoBytes => length.to_be_bytes().to_vec(),
            Self::FourBytes => u32::from(length).to_be_bytes().to_vec(),
        };
        stream.write_all(&[&length, message].concat())?;
        stream.flush()
    }

    fn receive(self, stream: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        let start = if self == Self::TwoBytes { 2 } else { 0 };
        stream.read_exact(&mut length[start..])?;
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_BYTES {
            let reason = match length {
                TLS_ALERT if self == Self::TwoBytes => {
                    "it speaks TLS; --tls-ca FILE names the authority of its certificate".to_owned()
                }
                _ => format!(
                    "a message of {length} bytes cannot belong to a handshake: is this the port of the Erlang \
                     distribution? `epmd -names` lists it"
                ),
            };
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let mut message = vec![0; length];
        stream.read_exact(&mut message)?;
        Ok(message)
    }
}

#[cfg(test)]
#[path = "handshake_tests.rs"]
mod tests;
