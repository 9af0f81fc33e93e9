//! A response on its way to the client.

use std::io::{self, ErrorKind, IoSlice, Write};

use super::Response;

/// Head and body of a response, and the number of bytes sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    head: Vec<u8>,
    body: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    /// Creates the output. `with_body` is false for the answer to a HEAD, whose head equals that of a GET.
    pub(crate) fn new(response: Response, keep_alive: bool, with_body: bool) -> Self {
        let head = response.head(keep_alive).into_bytes();
        let body = if with_body { response.body } else { Vec::new() };
        Self { head, body, sent: 0 }
    }

    /// Returns its memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.head.capacity() + self.body.capacity()
    }

    /// Sends bytes until the socket takes no more. Returns true when all are sent. One write takes as much as fits,
    /// so a response that fits into the socket's buffer is one segment train.
    pub(crate) fn send(&mut self, socket: &mut impl Write) -> io::Result<bool> {
        while self.sent < self.head.len() + self.body.len() {
            let head = self.head.get(self.sent..).unwrap_or_default();
            let body = &self.body[self.sent.saturating_sub(self.head.len())..];
            match socket.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    /// A socket that takes this many bytes at a time and blocks after each write.
    struct Sips(Vec<u8>, usize, bool);

    impl Write for Sips {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.2 = !self.2;
            if self.2 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = bytes.len().min(self.1);
            self.0.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn whatever_the_socket_takes_all_is_sent_once() {
        let response = || Response::text(Status::OK, "some text");
        for with_body in [true, false] {
            let body = if with_body { "some text\n" } else { "" };
            let expected = format!("{}{body}", response().head(true));
            for size in 1..expected.len() + 2 {
                let mut socket = Sips(Vec::new(), size, false);
                let mut outgoing = Outgoing::new(response(), true, with_body);
                while !outgoing.send(&mut socket).unwrap() {}
                assert_eq!(String::from_utf8(socket.0).unwrap(), expected, "{size} at a time");
            }
        }
    }
}
