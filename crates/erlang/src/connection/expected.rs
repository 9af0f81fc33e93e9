//! Verifies the peer of a connection before the program proves its knowledge of the cookie.
//!
//! A peer that receives the answer to a node's challenge can log in at any node with that cookie. Any user may start a
//! program that uses the name or the port of a node.

use std::net::IpAddr;

use rabbitscope_machine::sockets::{TcpSocket, holder_of, is_local_address};

use super::{Peer, VerifyPeer};
use crate::Cookie;

/// Tells if the process `pid` holds the socket with this inode. The error is a sentence for the user.
pub type HoldsSocket = fn(pid: u32, inode: u64) -> Result<bool, String>;

/// The node that must be at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedNode {
    /// The node's process, if it is known; the node then runs on this machine.
    pub pid: Option<u32>,
    /// True if the user named the cookie's file.
    pub cookie_is_chosen: bool,
    /// Looks up the sockets of [`Self::pid`] with the caller's rights.
    pub holds: HoldsSocket,
}

impl VerifyPeer for ExpectedNode {
    fn address(&self, address: IpAddr) -> Result<(), String> {
        match self.pid {
            Some(pid) if !is_local_address(address) => Err(format!(
                "the name of process {pid} resolves to {address}, which is not this machine; select the node with \
                 --node"
            )),
            _ => Ok(()),
        }
    }

    fn peer(&self, peer: &Peer<'_>) -> Result<(), String> {
        if !is_local_address(peer.other.ip()) {
            // Only TLS identifies a peer on another machine.
            return self.address(peer.other.ip());
        }
        match holder_of(peer.own, peer.other) {
            Some(holder) => self.holder(holder, peer.cookie),
            None if self.pid.is_none() && self.is_chosen_by_user(peer.cookie) => Ok(()),
            None => Err(format!(
                "the listener at {} cannot be identified, perhaps because it has its own network; if you trust it, \
                 give --cookie-file and --node",
                peer.other
            )),
        }
    }
}

impl ExpectedNode {
    fn holder(&self, holder: TcpSocket, cookie: &Cookie) -> Result<(), String> {
        let TcpSocket { user, inode, .. } = holder;
        // Root can read any cookie.
        if user != 0 && cookie.owner() != Some(user) && !self.is_chosen_by_user(cookie) {
            return Err(format!(
                "it runs as user {user}, but the cookie from {} belongs to another user; give the node's cookie with \
                 --cookie-file",
                cookie.origin()
            ));
        }
        let Some(pid) = self.pid else { return Ok(()) };
        if (self.holds)(pid, inode)? {
            return Ok(());
        }
        Err(format!("its socket does not belong to process {pid}; select the node with --node"))
    }

    /// Returns whether the cookie comes from the environment, or from a file of the user's own that was named for this
    /// node.
    fn is_chosen_by_user(&self, cookie: &Cookie) -> bool {
        let own = rustix::process::geteuid().as_raw();
        cookie.owner().is_none_or(|owner| self.cookie_is_chosen && owner == own)
    }
}
