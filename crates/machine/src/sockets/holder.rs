//! Search for the socket at the other end of a connection on this machine.

use std::net::SocketAddr;

use super::table::{TcpSocket, canonical, connections};

/// Returns the socket that accepted the connection from `own` to `other`. Returns `None` if that socket is on another
/// machine or in another network namespace.
pub fn holder_of(own: SocketAddr, other: SocketAddr) -> Option<TcpSocket> {
    let ends = (canonical(other), canonical(own));
    connections().into_iter().find(|socket| socket.inode != 0 && socket.ends() == ends)
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
