//! What a connection needs to know.

use std::{path::PathBuf, time::Duration};

use crate::{CookieSource, NodeName, epmd};

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
        }
    }
}
