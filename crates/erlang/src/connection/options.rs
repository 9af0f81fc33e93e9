//! What a connection needs to know.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use crate::{Cookie, CookieSource, NodeName, epmd};

/// Which node, and how to get to it.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The node.
    pub node: NodeName,
    /// Where the cookie is.
    pub cookie: CookieSource,
    /// Where the node listens.
    pub port: Port,
    /// The node speaks TLS.
    pub tls: Option<TlsFiles>,
    /// How long everything until the connection stands may take.
    pub within: Duration,
    /// A program that the node has not heard of for so long is taken for dead, and what it has loaded
    /// there is removed. Its signs of life come once a second.
    pub dead_man: Duration,
    /// Who may answer for the node; absent: whoever does.
    pub verify: Option<Arc<dyn VerifyPeer>>,
}

/// Judges who answers for a node. What it refuses is never shown that we know the cookie. A reason ends with
/// what to do.
pub trait VerifyPeer: fmt::Debug + Send + Sync {
    /// Before anything is sent there.
    fn address(&self, address: IpAddr) -> Result<(), String>;

    /// Before the answer to the challenge is sent.
    fn peer(&self, peer: &Peer<'_>) -> Result<(), String>;
}

/// What answers for a node, and what it is to be shown.
#[derive(Debug)]
pub struct Peer<'a> {
    /// Our end of the connection.
    pub own: SocketAddr,
    /// The other end.
    pub other: SocketAddr,
    /// The cookie that is to be used.
    pub cookie: &'a Cookie,
}

/// Where a node listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The port mapper, at this port of the node's host, says it.
    Mapped(u16),
    /// Here, without a port mapper.
    Fixed(u16),
}

/// Files in PEM form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates that the node's certificate has to go back to.
    pub authorities: PathBuf,
    /// Our certificate and its key, when the node wants one.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl ConnectOptions {
    /// The usual places, the usual port mapper, no TLS, five seconds to connect, fifteen of silence.
    pub fn new(node: NodeName) -> Self {
        Self {
            node,
            cookie: CookieSource::default(),
            port: Port::Mapped(epmd::PORT),
            tls: None,
            within: Duration::from_secs(5),
            dead_man: Duration::from_secs(15),
            verify: None,
        }
    }
}
