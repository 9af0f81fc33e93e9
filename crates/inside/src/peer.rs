//! Verifies the peer of a connection before the program proves to it that it knows the cookie.
//!
//! Whoever receives the answer to a node's challenge can log in at any node with that cookie, and any user
//! may start a program that uses the name of a node.

use std::net::IpAddr;

use rabbitscope_erlang::{Cookie, Peer, VerifyPeer};

use rabbitscope_probe::{SocketHolder, holder_of, is_local_address};

/// What is known about the expected node.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedNode {
    /// Its process, if it was found by its process; then it runs on this machine.
    pub pid: Option<u32>,
    /// Whether the user named the file of the cookie.
    pub cookie_is_chosen: bool,
}

impl VerifyPeer for ExpectedNode {
    fn address(&self, address: IpAddr) -> Result<(), String> {
        match self.pid {
            Some(pid) if !is_local_address(address) => Err(format!(
                "the name of process {pid} leads to {address}, which is not this machine; name the node \
                 that you mean with --node"
            )),
            _ => Ok(()),
        }
    }

    fn peer(&self, peer: &Peer<'_>) -> Result<(), String> {
        if !is_local_address(peer.other.ip()) {
            // What answers on another machine can only be told by TLS.
            return self.address(peer.other.ip());
        }
        match holder_of(peer.own, peer.other) {
            Some(holder) => self.holder(holder, peer.cookie),
            None if self.pid.is_none() && self.is_chosen_by_user(peer.cookie) => Ok(()),
            None => Err(format!(
                "it cannot be told who listens at {}, perhaps in a network of its own; name the cookie \
                 with --cookie-file, and the node with --node, if that is what you mean",
                peer.other
            )),
        }
    }
}

impl ExpectedNode {
    fn holder(&self, holder: SocketHolder, cookie: &Cookie) -> Result<(), String> {
        let SocketHolder { user, inode } = holder;
        // Root could read the cookie.
        if user != 0 && cookie.owner() != Some(user) && !self.is_chosen_by_user(cookie) {
            return Err(format!(
                "it runs as user {user}, whose the cookie from {} is not; name the node's cookie with \
                 --cookie-file",
                cookie.origin()
            ));
        }
        let Some(pid) = self.pid else { return Ok(()) };
        match rabbitscope_probe::holds_socket(pid, &[inode]) {
            Ok(true) => Ok(()),
            Ok(false) => {
                Err(format!("its socket is not one of process {pid}; name the node with --node"))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether the cookie is given in the environment, or in a file of the user's own that was named for this
    /// node.
    fn is_chosen_by_user(&self, cookie: &Cookie) -> bool {
        let own = rustix::process::geteuid().as_raw();
        cookie.owner().is_none_or(|owner| self.cookie_is_chosen && owner == own)
    }
}
