//! Rows of `/proc/net/tcp` and `/proc/net/tcp6` (`proc_net_tcp(5)`).

use std::{
    fmt::Display,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use super::diagnosis::DescribedSocket;
use crate::text::read;

/// A socket of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// Local address.
    pub address: SocketAddr,
    /// Address of the other end; of a listener, zeros.
    pub remote: SocketAddr,
    /// Id of the user who created the socket.
    pub user: u32,
    /// Inode of the socket; 0 until a connection is accepted.
    pub inode: u64,
}

impl From<DescribedSocket<'_>> for TcpSocket {
    fn from(socket: DescribedSocket<'_>) -> Self {
        let DescribedSocket { local, remote, user, inode, .. } = socket;
        Self { address: local, remote, user, inode: inode.into() }
    }
}

impl TcpSocket {
    /// Returns both ends, the own one first. IPv4 on a socket for IPv6 is given as IPv4.
    pub(crate) fn ends(&self) -> (SocketAddr, SocketAddr) {
        (canonical(self.address), canonical(self.remote))
    }

    /// Parses a row in this state. Fields count from 0: ends in 1 and 2, state in 3, user in 7, inode in 9.
    fn parse(line: &str, state: &str) -> Option<Self> {
        let mut fields = line.split_whitespace();
        let (local, remote) = (fields.nth(1)?, fields.next()?);
        fields.next().filter(|found| *found == state)?;
        Some(Self {
            address: address(local)?,
            remote: address(remote)?,
            user: fields.nth(3)?.parse().ok()?,
            inode: fields.nth(1)?.parse().ok()?,
        })
    }
}

/// State of a listening socket (`TCP_LISTEN` of the kernel's `tcp_states.h`).
const LISTENING: &str = "0A";

/// State of a connection (`TCP_ESTABLISHED`).
const ESTABLISHED: &str = "01";

/// Returns all TCP listeners in the tables of a process's network. Empty if the tables are unreadable.
pub(super) fn listeners_in_tables(process: impl Display) -> Vec<TcpSocket> {
    sockets_in(process, LISTENING)
}

/// Returns all established TCP connections of the calling thread's network.
pub(crate) fn connections() -> Vec<TcpSocket> {
    sockets_in("thread-self", ESTABLISHED)
}

/// Returns all established TCP connections of a process's network. Empty if the tables are unreadable.
pub fn connections_beside(pid: u32) -> Vec<TcpSocket> {
    sockets_in(pid, ESTABLISHED)
}

fn sockets_in(process: impl Display, state: &str) -> Vec<TcpSocket> {
    let tables = ["tcp", "tcp6"].map(|name| read(format!("/proc/{process}/net/{name}")));
    let rows = tables.iter().flatten().flat_map(|table| table.lines());
    rows.filter_map(|row| TcpSocket::parse(row, state)).collect()
}

/// Returns the IPv4 address of an end that an IPv6 socket has as a mapped one.
pub(crate) fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}

fn address(text: &str) -> Option<SocketAddr> {
    let (ip_digits, port) = text.split_once(':')?;
    Some(SocketAddr::new(ip(ip_digits)?, u16::from_str_radix(port, 16).ok()?))
}

/// Parses an address. The kernel prints each 32 bits as a number in this machine's byte order.
fn ip(digits: &str) -> Option<IpAddr> {
    let word = |index: usize| u32::from_str_radix(digits.get(8 * index..8 * (index + 1))?, 16).ok();
    let bytes = |index| word(index).map(u32::to_ne_bytes);
    match digits.len() {
        8 => Some(Ipv4Addr::from(bytes(0)?).into()),
        32 => {
            let words = [bytes(0)?, bytes(1)?, bytes(2)?, bytes(3)?];
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(words.as_flattened()).ok()?).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "   0: 0100007F:1628 00000000:0000 0A 00000000:00000000 00:00000000 \
                        00000000   999        0 4711 1 0000000000000000 100 0 0 10 0";

    #[test]
    #[cfg(target_endian = "little")]
    fn a_listening_socket() {
        let [address, remote] = ["127.0.0.1:5672", "0.0.0.0:0"].map(|end| end.parse().unwrap());
        let listener = |line: &str| TcpSocket::parse(line, LISTENING);
        assert_eq!(listener(LINE), Some(TcpSocket { address, remote, user: 999, inode: 4711 }));
        assert_eq!(listener(&LINE.replace(" 0A ", " 01 ")), None);
        assert_eq!(listener("sl local_address rem_address st"), None);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses() {
        let check = |digits: &str, expected: Option<&str>| {
            assert_eq!(ip(digits).map(|ip| ip.to_string()).as_deref(), expected, "{digits}");
        };
        check("0100007F", Some("127.0.0.1"));
        check("00000000000000000000000001000000", Some("::1"));
        check("0100", None);
        check("é100007", None);
    }
}
