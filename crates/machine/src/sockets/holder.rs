//! Search for the holder of a connection's other end on this machine.

use std::{
    fs,
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use super::{
    diagnosis,
    table::{ESTABLISHED, OWN_NETWORK, Row},
};

/// The socket at the other end of a connection, as the kernel shows it to every user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketHolder {
    /// Id of the user who created the socket.
    pub user: u32,
    /// Inode of the socket.
    pub inode: u64,
}

/// Returns the holder of the socket that accepted the connection from `own` to `other`. Returns `None` if that socket
/// is on another machine or in another network namespace.
pub fn holder_of(own: SocketAddr, other: SocketAddr) -> Option<SocketHolder> {
    diagnosis::holder(other, own).unwrap_or_else(|_| holder_in_tables(own, other))
}

fn holder_in_tables(own: SocketAddr, other: SocketAddr) -> Option<SocketHolder> {
    let ends = [other, own].map(words);
    // An IPv6 socket also accepts IPv4 connections.
    let mapped = [other, own].map(|end| words(SocketAddr::new(mapped(end.ip()), end.port())));
    [("tcp", &ends), ("tcp6", &ends), ("tcp6", &mapped)].into_iter().find_map(|(table, ends)| {
        holder_in(&fs::read_to_string(format!("{OWN_NETWORK}/{table}")).ok()?, ends)
    })
}

fn mapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V6(address.to_ipv6_mapped()),
        IpAddr::V6(_) => address,
    }
}

/// Searches a table for an established connection. The inode is 0 until the connection is accepted.
fn holder_in(table: &str, ends: &[String; 2]) -> Option<SocketHolder> {
    let is_it = |row: &Row<'_>| {
        row.state == ESTABLISHED && row.local == ends[0] && row.remote == ends[1] && row.inode != 0
    };
    let row = table.lines().filter_map(Row::parse).find(is_it)?;
    Some(SocketHolder { user: row.user, inode: row.inode })
}

/// Formats an address as the tables do: words in the machine's byte order, in hexadecimal digits.
fn words(end: SocketAddr) -> String {
    let address = match end.ip() {
        IpAddr::V4(address) => format!("{:08X}", u32::from_ne_bytes(address.octets())),
        IpAddr::V6(address) => words_of(address),
    };
    format!("{address}:{:04X}", end.port())
}

fn words_of(address: Ipv6Addr) -> String {
    let octets = address.octets();
    let words = octets.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
    words.map(|word| format!("{word:08X}")).collect::<Vec<String>>().concat()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn ends_as_the_kernel_writes_them() {
        let check = |end: &str, expected: &str| assert_eq!(words(end.parse().unwrap()), expected);
        check("127.0.0.1:5672", "0100007F:1628");
        check("[::1]:1", "00000000000000000000000001000000:0001");
        check("[::ffff:127.0.0.1]:1", "0000000000000000FFFF00000100007F:0001");
    }

    #[test]
    fn the_other_end_is_known_once_it_is_accepted() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let ends = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
            assert_eq!(holder_of(ends.0, ends.1), None, "{address}");
            let accepted = listener.accept().unwrap();
            let holder = holder_of(ends.0, ends.1).unwrap();
            assert_eq!(holder.user, rustix::process::geteuid().as_raw(), "{address}");
            assert_eq!(holder_in_tables(ends.0, ends.1), Some(holder), "{address}");
            drop(accepted);
        }
    }
}
