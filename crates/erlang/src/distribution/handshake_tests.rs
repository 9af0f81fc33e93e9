//! The handshake with a peer that sends fixed bytes.

use super::*;
use crate::ErrorKind;

/// A peer that sends these bytes and ignores its input.
struct Peer<'a>(&'a [u8]);

impl Read for Peer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Peer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn message(body: &[u8]) -> Vec<u8> {
    [&u16::try_from(body.len()).unwrap().to_be_bytes(), body].concat()
}

fn challenge(name: &str) -> Vec<u8> {
    let length = u16::try_from(name.len()).unwrap().to_be_bytes();
    message(&[b"N", &[0; 8][..], &[0, 0, 0, 1], &[0; 4], &length, name.as_bytes()].concat())
}

fn outcome(sent: &[Vec<u8>]) -> Result<(), ErlangError> {
    let visitor = Visitor { name: "me@here".to_owned(), creation: 1, challenge: 2 };
    let node = NodeName::parse("a@b").unwrap();
    let cookie = Cookie::new("secret", "a test");
    let sent = sent.concat();
    let mut peer = Peer(&sent);
    shake_hands(&mut peer, Prefix::TwoBytes, &node, &visitor, &cookie, &|| Ok(()))
}

#[track_caller]
fn refuse(sent: &[Vec<u8>], says: &str) {
    let error = outcome(sent).unwrap_err();
    assert!(error.to_string().contains(says), "{error}");
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn each_end_of_a_handshake() {
    let ok = message(b"sok");
    // MD5 of "secret2".
    let mut proof = vec![b'a'];
    proof.extend(digest(&Cookie::new("secret", ""), 2));
    assert!(outcome(&[ok.clone(), challenge("a@b"), message(&proof)]).is_ok());
    refuse(&[], "it closed the connection");
    refuse(&[vec![255; 2]], "65535 bytes");
    // A TLS alert: fatal, unexpected message.
    refuse(&[vec![0x15, 3, 3, 0, 2, 2, 10]], "it speaks TLS; --tls-ca");
    refuse(&[message(b"snot_allowed")], "does not include this program");
    refuse(&[message(b"salive")], "already has a connection");
    refuse(&[message(b"sEUH?")], "EUH?");
    refuse(&[ok.clone(), message(b"n")], "another version");
    refuse(&[ok.clone(), message(b"N12")], "too short");
    refuse(&[ok.clone(), challenge("other@b")], "it calls itself other@b");
    refuse(&[ok.clone(), challenge("a@b")], "refuses the cookie from a test");
    refuse(&[ok, challenge("a@b"), message(&[b'a'; 17])], "does not know the cookie");
}

#[test]
fn the_digest_is_that_of_the_protocol() {
    // echo -n secret12 | md5sum
    let digest = u128::from_be_bytes(digest(&Cookie::new("secret", ""), 12));
    assert_eq!(format!("{digest:032x}"), "8b2fee48cd255fddee9a662b55da4fd4");
}
