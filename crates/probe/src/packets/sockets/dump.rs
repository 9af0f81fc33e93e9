//! Requests TCP sockets from the kernel. The netlink socket for this belongs to the network in which it was opened.

use std::{io, os::fd::OwnedFd, time::Duration};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType,
    netlink::{SOCK_DIAG, SocketAddrNetlink},
    recvfrom, sendto, socket_with,
    sockopt::{Timeout, set_socket_timeout},
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
        Ok(Self { netlink, datagram: vec![0; DATAGRAM_BYTES] })
    }

    /// All connections with one of `ports`, at most `limit`, and the number of further ones.
    pub(super) fn connections(
        &mut self,
        ports: &PortSet,
        limit: usize,
    ) -> Result<(Vec<TcpSocket>, usize), PacketError> {
        let (mut sockets, mut left_out) = (Vec::new(), 0);
        for family in [IPV4, IPV6] {
            self.dump(&request(family, ports), |socket| {
                if sockets.len() < limit { sockets.push(socket) } else { left_out += 1 }
            })?;
        }
        Ok((sockets, left_out))
    }

    fn dump(&mut self, request: &[u8], mut each: impl FnMut(TcpSocket)) -> Result<(), PacketError> {
        sendto(&self.netlink, request, SendFlags::empty(), &KERNEL)
            .map_err(PacketError::io("asking the kernel for sockets"))?;
        loop {
            let mut end = None;
            read_all(self.receive()?, |answer| match answer {
                Answer::Socket(socket) => each(*socket),
                Answer::Unknown => {}
                Answer::Done => end = Some(Ok(())),
                Answer::Refused(errno) => end = Some(refused(errno)),
            })
            .map_err(|detail| PacketError::SocketMessage { detail })?;
            if let Some(end) = end {
                return end;
            }
        }
    }

    fn receive(&mut self) -> Result<&[u8], PacketError> {
        let received = loop {
            match recvfrom(&self.netlink, &mut self.datagram[..], RecvFlags::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other,
            }
        };
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
}
