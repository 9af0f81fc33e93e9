//! Options of a connection.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use crate::{Cookie, CookieSource, NodeName, epmd};

/// The node, and how to connect to it.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The node.
    pub node: NodeName,
    /// Source of the cookie.
    pub cookie: CookieSource,
    /// Port of the node.
    pub port: Port,
    /// Files for TLS, if the node uses it.
    pub tls: Option<TlsFiles>,
    /// Timeout for opening the connection.
    pub within: Duration,
    /// Loaded modules are removed when the node has received no sign of life for this time. The program sends one
    /// each second.
    pub dead_man: Duration,
    /// Verifies the peer; `None` accepts any.
    pub verify: Option<Arc<dyn VerifyPeer>>,
}

/// Verifies the peer of a connection. A refused peer never receives a proof that this program knows the cookie. The
/// reason of a refusal ends with the next step for the user.
pub trait VerifyPeer: fmt::Debug + Send + Sync {
    /// Verifies an address before anything is sent there.
    fn address(&self, address: IpAddr) -> Result<(), String>;

    /// Verifies the peer before the answer to its challenge is sent.
    fn peer(&self, peer: &Peer<'_>) -> Result<(), String>;
}

/// The peer of a connection, and the cookie that is to be used.
#[derive(Debug)]
pub struct Peer<'a> {
    /// Local address of the connection.
    pub own: SocketAddr,
    /// Remote address of the connection.
    pub other: SocketAddr,
    /// The cookie.
    pub cookie: &'a Cookie,
}

/// The port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Known to the port mapper at this port of the node's host.
    Mapped(u16),
    /// This port of the node's host, without a port mapper.
    Fixed(u16),
    /// This address, without a port mapper and whatever the node's host is.
    At(SocketAddr),
}

/// Files in PEM form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate authorities for the node's certificate. Without them any certificate is accepted, and
    /// [`ConnectOptions::verify`] has to identify the node.
    pub authorities: Option<PathBuf>,
    /// Certificate and key of the client, if the node demands one.
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
