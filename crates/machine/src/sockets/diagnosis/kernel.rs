//! The exchange with the kernel. The netlink socket for it belongs to the network in which it was opened.

use std::{io, os::fd::OwnedFd, time::Duration};

use rustix::{
    io::retry_on_intr,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType,
        netlink::{SOCK_DIAG, SocketAddrNetlink},
        recvfrom, sendto, socket_with,
        sockopt::{Timeout, set_socket_timeout},
    },
};

use super::{
    error::DiagnosisError,
    message::{Answer, DescribedSocket, read_all},
    request::DiagnosisRequest,
};

/// Size of the buffer for a datagram. The kernel fills at most 32 KiB of it.
const DATAGRAM_BYTES: usize = 1 << 16;

/// Limit for the wait for an answer. The kernel normally answers at once.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Address of the kernel's end of every netlink socket.
const KERNEL: SocketAddrNetlink = SocketAddrNetlink::new(0, 0);

/// A netlink socket for requests about sockets, and memory for the answers.
#[derive(Debug)]
pub struct SocketDiagnosis {
    netlink: OwnedFd,
    datagram: Vec<u8>,
    /// Number of the last request.
    sequence: u32,
    /// True from a request until the end of its answer.
    is_answering: bool,
}

impl SocketDiagnosis {
    /// Opens the netlink socket in the calling thread's network, whose sockets it then describes.
    pub fn open() -> Result<Self, DiagnosisError> {
        let flags = SocketFlags::CLOEXEC;
        let netlink = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(SOCK_DIAG))
            .and_then(|netlink| {
                set_socket_timeout(&netlink, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
                Ok(netlink)
            })
            .map_err(|errno| DiagnosisError::Open(errno.into()))?;
        let datagram = vec![0; DATAGRAM_BYTES];
        Ok(Self { netlink, datagram, sequence: 0, is_answering: false })
    }

    /// Hands each socket of the answer to `each`.
    pub fn ask(
        &mut self,
        request: &DiagnosisRequest,
        each: impl FnMut(DescribedSocket<'_>),
    ) -> Result<(), DiagnosisError> {
        self.send(request)?;
        self.read_answer(request.is_dump(), each)
    }

    /// Sends a request. The kernel refuses it while it has a part of an earlier answer, as after a timeout.
    fn send(&mut self, request: &DiagnosisRequest) -> Result<(), DiagnosisError> {
        while self.is_answering && self.receive(RecvFlags::DONTWAIT).is_ok() {}
        self.sequence = self.sequence.wrapping_add(1);
        self.is_answering = true;
        let message = request.message(self.sequence);
        sendto(&self.netlink, &message, SendFlags::empty(), &KERNEL)
            .map(drop)
            .map_err(|errno| DiagnosisError::Ask(errno.into()))
    }

    /// Reads to the message at the end of an answer, or to the one socket.
    fn read_answer(
        &mut self,
        is_dump: bool,
        mut each: impl FnMut(DescribedSocket<'_>),
    ) -> Result<(), DiagnosisError> {
        loop {
            let (sequence, mut end) = (self.sequence, None);
            read_all(self.receive(RecvFlags::empty())?, sequence, |answer| match answer {
                Answer::Socket(socket) => {
                    each(socket);
                    if !is_dump {
                        end = Some(Ok(()));
                    }
                }
                Answer::Unknown => {}
                Answer::Done => end = Some(Ok(())),
                Answer::Refused(errno) => end = Some(refused(errno)),
            })
            .map_err(DiagnosisError::Message)?;
            if let Some(end) = end {
                self.is_answering = false;
                return end;
            }
        }
    }

    fn receive(&mut self, flags: RecvFlags) -> Result<&[u8], DiagnosisError> {
        let received = retry_on_intr(|| recvfrom(&self.netlink, &mut self.datagram[..], flags));
        let length = received
            .map(|(_, length, _)| length)
            .map_err(|errno| DiagnosisError::Read(errno.into()))?;
        let detail = "it is longer than the memory for it";
        self.datagram.get(..length).ok_or(DiagnosisError::Message(detail))
    }
}

fn refused(errno: i32) -> Result<(), DiagnosisError> {
    match errno {
        0 => Ok(()),
        errno => Err(DiagnosisError::Refused(io::Error::from_raw_os_error(errno))),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::sockets::diagnosis::IPV4;

    const ESTABLISHED: u8 = 1;

    #[test]
    fn an_unread_answer_is_no_part_of_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        // Their description takes several datagrams, of which the kernel keeps the last ones back.
        let pairs: Vec<_> = (0..400)
            .map(|_| (TcpStream::connect(local).unwrap(), listener.accept().unwrap()))
            .collect();
        let request = DiagnosisRequest::all(IPV4, [ESTABLISHED]);
        for datagrams_read in [0, 1] {
            let mut diagnosis = SocketDiagnosis::open().unwrap();
            diagnosis.send(&request).unwrap();
            for _ in 0..datagrams_read {
                diagnosis.receive(RecvFlags::empty()).unwrap();
            }
            let mut own = 0;
            let count = |socket: DescribedSocket<'_>| {
                own += usize::from([socket.local, socket.remote].contains(&local));
            };
            diagnosis.ask(&request, count).unwrap();
            assert_eq!(own, 2 * pairs.len());
        }
    }
}
