//! Requests TCP sockets from the kernel. The netlink socket for this belongs to the network in which it was opened.

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
    message::{Answer, read_all},
    request::{IPV4, IPV6, request},
    socket::TcpSocket,
};
use crate::packets::{
    error::PacketError,
    namespace::{NetworkNamespace, within},
    ports::PortSet,
};

/// Size of the buffer for a datagram. The kernel fills at most 32 KiB of it.
const DATAGRAM_BYTES: usize = 1 << 16;

/// Limit for the wait for an answer. The kernel normally answers at once.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Address of the kernel's end of every netlink socket.
const KERNEL: SocketAddrNetlink = SocketAddrNetlink::new(0, 0);

/// All TCP connections of a network with one of `ports` at either end, at most `limit`, and the number of further
/// ones. Listening sockets are not included.
pub fn dump_sockets(
    ports: &PortSet,
    namespace: Option<&NetworkNamespace>,
    limit: usize,
) -> Result<(Vec<TcpSocket>, usize), PacketError> {
    SocketDump::open(namespace)?.connections(ports, limit)
}

/// A netlink socket for requests about sockets, and memory for the answers.
#[derive(Debug)]
pub(super) struct SocketDump {
    netlink: OwnedFd,
    datagram: Vec<u8>,
    /// Number of the last request.
    sequence: u32,
    /// True from a request until the end of its answer.
    is_answering: bool,
}

impl SocketDump {
    /// Opens the socket in `namespace`, whose sockets it then lists.
    pub(super) fn open(namespace: Option<&NetworkNamespace>) -> Result<Self, PacketError> {
        let opening = "opening a socket for socket diagnosis";
        let netlink = within(namespace, || {
            let flags = SocketFlags::CLOEXEC;
            socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(SOCK_DIAG))
                .map_err(PacketError::io(opening))
        })?;
        set_socket_timeout(&netlink, Timeout::Recv, Some(ANSWER_TIMEOUT))
            .map_err(PacketError::io(opening))?;
        let datagram = vec![0; DATAGRAM_BYTES];
        Ok(Self { netlink, datagram, sequence: 0, is_answering: false })
    }

    /// All connections with one of `ports`, at most `limit`, and the number of further ones.
    pub(super) fn connections(
        &mut self,
        ports: &PortSet,
        limit: usize,
    ) -> Result<(Vec<TcpSocket>, usize), PacketError> {
        let (mut sockets, mut left_out) = (Vec::new(), 0);
        for family in [IPV4, IPV6] {
            self.ask(family, ports)?;
            self.read_answer(|socket| {
                if sockets.len() < limit { sockets.push(socket) } else { left_out += 1 }
            })?;
        }
        Ok((sockets, left_out))
    }

    /// Sends a request. The kernel refuses it while it has a part of an earlier answer, as after a timeout.
    fn ask(&mut self, family: u8, ports: &PortSet) -> Result<(), PacketError> {
        while self.is_answering && self.receive(RecvFlags::DONTWAIT).is_ok() {}
        self.sequence = self.sequence.wrapping_add(1);
        self.is_answering = true;
        let request = request(family, ports, self.sequence);
        sendto(&self.netlink, &request, SendFlags::empty(), &KERNEL)
            .map(drop)
            .map_err(PacketError::io("asking the kernel for sockets"))
    }

    fn read_answer(&mut self, mut each: impl FnMut(TcpSocket)) -> Result<(), PacketError> {
        loop {
            let (sequence, mut end) = (self.sequence, None);
            read_all(self.receive(RecvFlags::empty())?, sequence, |answer| match answer {
                Answer::Socket(socket) => each(*socket),
                Answer::Unknown => {}
                Answer::Done => end = Some(Ok(())),
                Answer::Refused(errno) => end = Some(refused(errno)),
            })
            .map_err(|detail| PacketError::SocketMessage { detail })?;
            if let Some(end) = end {
                self.is_answering = false;
                return end;
            }
        }
    }

    fn receive(&mut self, flags: RecvFlags) -> Result<&[u8], PacketError> {
        let received = retry_on_intr(|| recvfrom(&self.netlink, &mut self.datagram[..], flags));
        let length = received
            .map(|(_, length, _)| length)
            .map_err(PacketError::io("reading the kernel's description of sockets"))?;
        let detail = "it is longer than the memory for it";
        self.datagram.get(..length).ok_or(PacketError::SocketMessage { detail })
    }
}

fn refused(errno: i32) -> Result<(), PacketError> {
    if errno == 0 {
        return Ok(());
    }
    let action =
        "asking the kernel for sockets; it needs the module tcp_diag (`modprobe tcp_diag`)";
    Err(PacketError::io(action)(io::Error::from_raw_os_error(errno)))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn both_ends_of_own_connections() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let local = listener.local_addr().unwrap();
            let stream = TcpStream::connect(local).unwrap();
            let accepted = listener.accept().unwrap();
            let ports = PortSet::new([local.port()]).unwrap();
            let (sockets, left_out) = dump_sockets(&ports, None, 10).unwrap();
            let mut ends: Vec<_> =
                sockets.iter().map(|socket| (socket.local, socket.remote)).collect();
            ends.sort_unstable();
            let own = stream.local_addr().unwrap();
            let mut expected = vec![(local, own), (own, local)];
            expected.sort_unstable();
            assert_eq!((ends, left_out), (expected, 0), "{address}");
            assert!(
                sockets.iter().all(|socket| socket.info.busy.is_some() && socket.memory.is_some())
            );
            assert_eq!(dump_sockets(&ports, None, 1).unwrap().1, 1);
            drop(accepted);
        }
    }

    #[test]
    fn an_unread_answer_is_no_part_of_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        // Their description takes several datagrams, of which the kernel keeps the last ones back.
        let pairs: Vec<_> = (0..100)
            .map(|_| (TcpStream::connect(local).unwrap(), listener.accept().unwrap()))
            .collect();
        let ports = PortSet::new([local.port()]).unwrap();
        for datagrams_read in [0, 1] {
            let mut dump = SocketDump::open(None).unwrap();
            dump.ask(IPV4, &ports).unwrap();
            for _ in 0..datagrams_read {
                dump.receive(RecvFlags::empty()).unwrap();
            }
            let (sockets, left_out) = dump.connections(&ports, 1000).unwrap();
            assert_eq!((sockets.len(), left_out), (2 * pairs.len(), 0));
        }
    }
}
