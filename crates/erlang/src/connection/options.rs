//! Options of a connection.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use crate::{Cookie, CookieSource, NodeName, epmd};

/// The node, and the way to connect to it.
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
    /// Time without a sign of life after which the node removes loaded modules. The program sends a sign each second.
    pub dead_man: Duration,
    /// Verifier of the peer; `None` accepts any peer.
    pub verify: Option<Arc<dyn VerifyPeer>>,
    /// Network of the node, if it differs from that of this process, as in a container. The node is then asked at the
    /// loopback addresses of its own network.
    pub network: Option<Arc<dyn Network>>,
}

/// A network namespace. A socket opened there stays there.
pub trait Network: fmt::Debug + Send + Sync {
    /// Runs `open` on a thread in this network, and waits for its end. The error is a sentence for the user; `open` did
    /// not run then.
    fn run(&self, open: &mut (dyn FnMut() + Send)) -> Result<(), String>;
}

/// A verifier of a connection's peer. A refused peer never receives a proof that this program knows the cookie. The
/// reason of a refusal ends with the next step for the user.
pub trait VerifyPeer: fmt::Debug + Send + Sync {
    /// Verifies an address before anything is sent there.
    fn address(&self, address: IpAddr) -> Result<(), String>;

    /// Verifies the peer before the answer to its challenge is sent.
    fn peer(&self, peer: &Peer<'_>) -> Result<(), String>;
}

/// The peer of a connection, and the cookie for it.
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
    /// The port that a port mapper knows. The mapper listens at this port of the node's host.
    Mapped(u16),
    /// This port of the node's host, without a port mapper.
    Fixed(u16),
    /// This address, without a port mapper and independent of the node's host.
    At(SocketAddr),
}

/// Files for TLS, in PEM form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate authorities for the node's certificate. Without them any certificate is accepted, and
    /// [`ConnectOptions::verify`] must identify the node.
    pub authorities: Option<PathBuf>,
    /// Certificate and key of the client, if the node demands one.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl ConnectOptions {
    /// Default options: the usual places of the cookie, the default port mapper, no TLS, five seconds to connect,
    /// fifteen of silence.
    pub fn new(node: NodeName) -> Self {
        Self {
            node,
            cookie: CookieSource::default(),
            port: Port::Mapped(epmd::PORT),
            tls: None,
            within: Duration::from_secs(5),
            dead_man: Duration::from_secs(15),
            verify: None,
            network: None,
        }
    }
}
