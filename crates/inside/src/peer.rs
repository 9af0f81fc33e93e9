//! Whether what answers for a node may be shown that we know the cookie. The answer to a node's challenge
//! lets whoever has it in at any node with that cookie, and any user may start something that goes by the name
//! of a node.

use std::net::IpAddr;

use rabbitscope_erlang::{Cookie, Peer, VerifyPeer};

use rabbitscope_probe::{SocketHolder, holder_of, is_local_address};

/// What is known of the node that is meant.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Its process, where it was found by that; then it is on this machine.
    pub pid: Option<u32>,
    /// The cookie's file was named by the user.
    pub cookie_is_chosen: bool,
}

impl VerifyPeer for Expected {
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
            None if self.pid.is_none() && self.is_meant(peer.cookie) => Ok(()),
            None => Err(format!(
                "it cannot be told who listens at {}, perhaps in a network of its own; name the cookie \
                 with --cookie-file, and the node with --node, if that is what you mean",
                peer.other
            )),
        }
    }
}

impl Expected {
    fn holder(&self, holder: SocketHolder, cookie: &Cookie) -> Result<(), String> {
        let SocketHolder { user, inode } = holder;
        // Root could read the cookie.
        if user != 0 && cookie.owner() != Some(user) && !self.is_meant(cookie) {
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

    /// A cookie of the user's own, named for this node, or given in the environment.
    fn is_meant(&self, cookie: &Cookie) -> bool {
        let own = rustix::process::geteuid().as_raw();
        cookie.owner().is_none_or(|owner| self.cookie_is_chosen && owner == own)
    }
}
