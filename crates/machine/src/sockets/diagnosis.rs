//! Questions to the kernel about TCP sockets (`sock_diag(7)`).
//!
//! A read of `/proc/net/tcp` walks all buckets of the kernel's table of connections, a quarter of a million of them on
//! a machine of 24 GiB. A question for listeners, or for one connection, leaves that table alone. A kernel without the
//! module `tcp_diag` and a sandbox without netlink refuse the question; the callers then read the tables in `/proc`.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::OwnedFd,
    time::Duration,
};

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::{
    SockDiagMessage,
    constants::{AF_INET, AF_INET6, IPPROTO_TCP, TCP_ESTABLISHED},
    inet::{ExtensionFlags, InetRequest, InetResponseHeader, SocketId, StateFlags},
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType,
    netlink::{SOCK_DIAG, SocketAddrNetlink},
    recv, sendto, socket_with,
    sockopt::{Timeout, set_socket_timeout},
};

use super::table::TcpSocket;

/// Size of the buffer for a datagram. The kernel fills at most 32 KiB of it.
const DATAGRAM_BYTES: usize = 1 << 16;

/// Limit for the wait for an answer. The kernel normally answers at once.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Address of the kernel's end of every netlink socket.
const KERNEL: SocketAddrNetlink = SocketAddrNetlink::new(0, 0);

/// The cookie of a question about a socket whose cookie is unknown (`INET_DIAG_NOCOOKIE`).
const NO_COOKIE: [u8; 8] = [0xff; 8];

/// Returns all TCP listeners of the calling thread's network.
pub(super) fn listeners() -> io::Result<Vec<TcpSocket>> {
    let mut found = Vec::new();
    for (family, any) in
        [(AF_INET, IpAddr::V4(Ipv4Addr::UNSPECIFIED)), (AF_INET6, Ipv6Addr::UNSPECIFIED.into())]
    {
        let ends = socket_id(SocketAddr::new(any, 0), SocketAddr::new(any, 0));
        ask(NLM_F_REQUEST | NLM_F_DUMP, family, StateFlags::LISTEN, ends, |socket| {
            found.push(tcp_socket(socket));
        })?;
    }
    Ok(found)
}

/// Returns the socket of the established connection between `local`, its own end, and `remote`. The kernel finds it by
/// its canonical addresses, whether the socket is one of IPv4 or of IPv6 with a mapped address.
pub(super) fn connection(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<TcpSocket>> {
    let family = if local.is_ipv4() { AF_INET } else { AF_INET6 };
    let mut found = None;
    let ends = socket_id(local, remote);
    ask(NLM_F_REQUEST, family, StateFlags::ESTABLISHED, ends, |socket| {
        // Without such a connection the kernel answers with the listener. The inode is 0 until the connection is
        // accepted.
        if socket.state == TCP_ESTABLISHED && socket.inode != 0 {
            found = Some(tcp_socket(socket));
        }
    })?;
    Ok(found)
}

fn tcp_socket(socket: &InetResponseHeader) -> TcpSocket {
    let id = &socket.socket_id;
    TcpSocket {
        address: SocketAddr::new(id.source_address, id.source_port),
        remote: SocketAddr::new(id.destination_address, id.destination_port),
        user: socket.uid,
        inode: socket.inode.into(),
    }
}

fn socket_id(local: SocketAddr, remote: SocketAddr) -> SocketId {
    SocketId {
        source_port: local.port(),
        destination_port: remote.port(),
        source_address: local.ip(),
        destination_address: remote.ip(),
        interface_id: 0,
        cookie: NO_COOKIE,
    }
}

/// Hands on each socket of the answer. A socket of its own for each question, so that no answer is taken for another's.
fn ask(
    flags: u16,
    family: u8,
    states: StateFlags,
    socket_id: SocketId,
    mut each: impl FnMut(&InetResponseHeader),
) -> io::Result<()> {
    let netlink = open()?;
    let extensions = ExtensionFlags::empty();
    let request = InetRequest { family, protocol: IPPROTO_TCP, extensions, states, socket_id };
    sendto(&netlink, &message(flags, request), SendFlags::empty(), &KERNEL)?;
    let mut datagram = vec![0; DATAGRAM_BYTES];
    loop {
        let length = receive(&netlink, &mut datagram)?;
        let mut rest = &datagram[..length];
        while !rest.is_empty() {
            let answer =
                NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
            match answer.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(socket)) => {
                    each(&socket.header);
                    if flags & NLM_F_DUMP == 0 {
                        return Ok(());
                    }
                }
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => {}
            }
            let length = usize::try_from(answer.header.length).unwrap_or(rest.len());
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

fn open() -> io::Result<OwnedFd> {
    let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
    let netlink = socket_with(family, SocketType::RAW, flags, Some(SOCK_DIAG))?;
    set_socket_timeout(&netlink, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
    Ok(netlink)
}

fn message(flags: u16, request: InetRequest) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn receive(netlink: &OwnedFd, datagram: &mut [u8]) -> io::Result<usize> {
    loop {
        match recv(netlink, &mut *datagram, RecvFlags::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok((_, length)) if length > datagram.len() => {
                return Err(io::Error::other("an answer is longer than the memory for it"));
            }
            Ok((_, length)) => return Ok(length),
            Err(errno) => return Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::{
        super::table::{canonical, listeners_in_tables},
        *,
    };

    /// The tables in `/proc` are the oracle.
    #[test]
    fn the_listeners_of_the_tables() {
        let _own = ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0", "[::ffff:127.0.0.1]:0"]
            .map(TcpListener::bind);
        let same = || {
            let (mut asked, mut read) = (listeners().unwrap(), listeners_in_tables("thread-self"));
            for found in [&mut asked, &mut read] {
                found.sort_by_key(|listener| (listener.inode, listener.address));
            }
            (asked == read).then_some(asked)
        };
        // Other tests of this machine open and close listeners.
        let found = (0..50).find_map(|_| same()).unwrap();
        assert!(found.len() >= 4, "{found:?}");
    }

    #[test]
    fn a_connection_and_not_its_listener() {
        for (bound, reached) in
            [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1"), ("[::]:0", "127.0.0.1")]
        {
            let Ok(listener) = TcpListener::bind(bound) else { continue };
            let port = listener.local_addr().unwrap().port();
            let stream = TcpStream::connect((reached, port)).unwrap();
            let ends =
                (canonical(stream.peer_addr().unwrap()), canonical(stream.local_addr().unwrap()));
            assert_eq!(connection(ends.0, ends.1).unwrap(), None, "not accepted: {bound}");
            let _accepted = listener.accept().unwrap();
            let own = rustix::process::geteuid().as_raw();
            assert_eq!(connection(ends.0, ends.1).unwrap().map(|socket| socket.user), Some(own));
            let other = SocketAddr::new(ends.1.ip(), 1);
            assert_eq!(connection(ends.0, other).ok().flatten(), None, "another port: {bound}");
        }
    }
}
