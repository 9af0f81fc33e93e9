//! TCP listeners of a network, by asking the kernel or, if it refuses, from its tables.

use super::{
    diagnosis::{DiagnosisError, DiagnosisRequest, IPV4, IPV6, SocketDiagnosis},
    table::{TcpSocket, listeners_in_tables},
};
use crate::namespaces::Namespace;

/// Number of the state of a listener (`<net/tcp_states.h>`).
const LISTEN: u8 = 10;

/// Returns all TCP listeners of the calling thread's network, which may differ from that of the process (`setns(2)`).
pub fn listeners() -> Vec<TcpSocket> {
    described_listeners().unwrap_or_else(|_| listeners_in_tables("thread-self"))
}

/// Returns all TCP listeners of a process's network, those of other processes too. Empty if the network is another one
/// and its tables are unreadable.
pub fn listeners_beside(pid: u32) -> Vec<TcpSocket> {
    match (Namespace::of_process(pid, "net"), Namespace::own("net")) {
        (Ok(network), Ok(own)) if network == own => listeners(),
        _ => listeners_in_tables(pid),
    }
}

fn described_listeners() -> Result<Vec<TcpSocket>, DiagnosisError> {
    let (mut diagnosis, mut found) = (SocketDiagnosis::open()?, Vec::new());
    for family in [IPV4, IPV6] {
        let request = DiagnosisRequest::all(family, [LISTEN]);
        diagnosis.ask(&request, |socket| found.push(TcpSocket::from(socket)))?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// The tables in `/proc` are the oracle.
    #[test]
    fn the_listeners_of_the_tables() {
        let _own = ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0", "[::ffff:127.0.0.1]:0"]
            .map(TcpListener::bind);
        let same = || {
            let (mut asked, mut read) =
                (described_listeners().unwrap(), listeners_in_tables("thread-self"));
            for found in [&mut asked, &mut read] {
                found.sort_by_key(|listener| (listener.inode, listener.address));
            }
            (asked == read).then_some(asked)
        };
        // Other tests of this machine open and close listeners.
        let found = (0..50).find_map(|_| same()).unwrap();
        assert!(found.len() >= 4, "{found:?}");
    }
}
