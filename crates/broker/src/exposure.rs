//! Whether a broker can be reached from other machines: the addresses that its processes listen on, according to
//! the kernel, not to a list of plugins or to a configuration.

use std::{
    collections::HashSet,
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// State of a listening socket in `/proc/net/tcp` (`TCP_LISTEN` of the kernel's `tcp_states.h`).
const LISTENING: &str = "0A";

/// Addresses beyond loopback that these processes listen on, each once.
pub(crate) fn beyond_loopback(pids: &[u32]) -> Vec<SocketAddr> {
    let mut exposed: Vec<SocketAddr> = pids.iter().flat_map(|&pid| listening(pid)).collect();
    exposed.retain(|address| !is_loopback(address.ip()));
    exposed.sort_unstable();
    exposed.dedup();
    exposed
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Addresses that a process listens on; none for a process that has ended.
fn listening(pid: u32) -> Vec<SocketAddr> {
    let sockets = sockets(pid);
    // Of the network that the process is in.
    let tables =
        ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")));
    let lines = tables.iter().flatten().flat_map(|table| table.lines());
    lines.filter_map(row).filter(|(inode, _)| sockets.contains(inode)).map(|row| row.1).collect()
}

/// Inodes of the sockets that a process has open.
fn sockets(pid: u32) -> HashSet<String> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    let inode = |link: &str| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned());
    links.filter_map(|link| inode(link.to_str()?)).collect()
}

/// Inode and local address of a listening socket.
fn row(line: &str) -> Option<(String, SocketAddr)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    let (address, port) = local.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (*state == LISTENING).then_some(())?;
    Some(((*inode).to_owned(), SocketAddr::new(ip(address)?, port)))
}

/// The kernel prints each 32 bits of an address as a number of this machine's byte order.
fn ip(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(hex.get(8 * at..8 * (at + 1))?, 16).ok();
    let bytes = |at| word(at).map(u32::to_ne_bytes);
    match hex.len() {
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
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_what_is_beyond_loopback() {
        let check = |address: &str, is_exposed: bool| {
            // A machine without IPv6 cannot be asked.
            let Ok(listener) = TcpListener::bind(address) else { return };
            let own = listener.local_addr().unwrap();
            let found = beyond_loopback(&[std::process::id()]).contains(&own);
            assert_eq!(found, is_exposed, "{own}");
        };
        check("127.0.0.1:0", false);
        check("127.8.8.8:0", false);
        check("0.0.0.0:0", true);
        check("[::1]:0", false);
        check("[::]:0", true);
        check("[::ffff:127.0.0.1]:0", false);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses() {
        let check = |hex: &str, expected: Option<&str>| {
            assert_eq!(ip(hex).map(|ip| ip.to_string()).as_deref(), expected, "{hex}");
        };
        check("0100007F", Some("127.0.0.1"));
        check("00000000000000000000000001000000", Some("::1"));
        check("0100", None);
        check("é100007", None);
    }
}
