//! The broker's address, and the queues to look at.

use std::time::Duration;

use rabbitscope_amqp::Uri;
use rabbitscope_runs::scenario::Connecting;
use rabbitscope_topology::Dialer;

/// Timeout of each step: connection, login, request, close.
pub(super) const TIMEOUT: Duration = Duration::from_secs(3);

/// A broker, and queues of its virtual host.
#[derive(Clone, Debug)]
pub struct AmqpOptions {
    /// Connections to the broker.
    pub(super) dialer: Dialer,
    /// Names of queues.
    pub(super) queues: Vec<String>,
}

impl AmqpOptions {
    /// Most queues. Each is asked twice.
    pub const MAX_QUEUES: usize = 20;

    /// Prepares a connection. Opens none.
    pub fn new(uri: Uri, queues: Vec<String>) -> anyhow::Result<Self> {
        let connecting = Connecting { timeout: TIMEOUT, ..Connecting::default() };
        Ok(Self { dialer: Dialer::new(vec![uri], &connecting, 1)?, queues })
    }

    /// Returns host and port.
    pub fn address(&self) -> String {
        self.dialer.uri().address()
    }

    /// Returns the pid of the node that listens there, if it runs on this machine.
    pub fn local_pid(&self) -> Option<u32> {
        let uri = self.dialer.uri();
        rabbitscope_probe::local_node_at(&uri.host, uri.port)
    }
}
