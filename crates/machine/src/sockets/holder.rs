//! Search in the kernel's socket tables for the holder of a connection's other end on this machine.

use std::net::SocketAddr;

use super::table::{canonical, connections};

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
    let ends = (canonical(other), canonical(own));
    let mut accepted = connections().into_iter().filter(|connection| connection.inode != 0);
    let found = accepted.find(|connection| connection.ends() == ends)?;
    Some(SocketHolder { user: found.user, inode: found.inode })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_other_end_is_known_once_it_is_accepted() {
        let loopback = ["127.0.0.1", "::1", "127.0.0.1"];
        // A socket for IPv6 also accepts IPv4 connections.
        for (address, host) in ["127.0.0.1:0", "[::1]:0", "[::]:0"].into_iter().zip(loopback) {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let stream = TcpStream::connect((host, port)).unwrap();
            let ends = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
            assert_eq!(holder_of(ends.0, ends.1), None, "{address}");
            let accepted = listener.accept().unwrap();
            let holder = holder_of(ends.0, ends.1).unwrap();
            assert_eq!(holder.user, rustix::process::geteuid().as_raw(), "{address}");
            drop(accepted);
        }
    }
}
