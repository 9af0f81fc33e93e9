//! Search for the socket at the other end of a connection on this machine.

use std::net::SocketAddr;

use super::{
    diagnosis::{DiagnosisError, DiagnosisRequest, SocketDiagnosis},
    table::{TcpSocket, canonical, connections},
};

/// Number of the state of a connection (`<net/tcp_states.h>`).
const ESTABLISHED: u8 = 1;

/// Returns the socket that accepted the connection from `own` to `other`. Returns `None` if that socket is on another
/// machine or in another network namespace.
pub fn holder_of(own: SocketAddr, other: SocketAddr) -> Option<TcpSocket> {
    let ends = (canonical(other), canonical(own));
    described_connection(ends).unwrap_or_else(|_| connection_in_tables(ends))
}

/// Asks the kernel, which finds a socket by the canonical addresses of its ends. Without such a connection it answers
/// with the listener, and an error without both. The inode is 0 until the connection is accepted.
fn described_connection(
    (local, remote): (SocketAddr, SocketAddr),
) -> Result<Option<TcpSocket>, DiagnosisError> {
    let mut found = None;
    SocketDiagnosis::open()?.ask(&DiagnosisRequest::one(local, remote), |socket| {
        let is_accepted = socket.state == ESTABLISHED && socket.inode != 0;
        found = is_accepted.then(|| TcpSocket::from(socket));
    })?;
    Ok(found)
}

fn connection_in_tables(ends: (SocketAddr, SocketAddr)) -> Option<TcpSocket> {
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
            let [own, other] = [ends.0, ends.1].map(canonical);
            assert_eq!(connection_in_tables((other, own)), Some(holder), "{address}");
            assert_eq!(described_connection((other, own)).unwrap(), Some(holder), "{address}");
            let nobody = SocketAddr::new(own.ip(), 1);
            assert_eq!(described_connection((other, nobody)).unwrap(), None, "{address}");
            drop(accepted);
        }
    }
}
