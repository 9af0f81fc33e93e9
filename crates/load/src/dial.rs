//! Making connections: which of the broker's addresses is tried, in which order.

use std::time::Duration;

use rabbitscope_amqp::{
    Uri,
    blocking::{Client, ClientError},
};

/// For each step of setting up and tearing down.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Knows where the broker is and how connections to it are made.
#[derive(Clone, Debug)]
pub struct Dialer {
    uris: Vec<Uri>,
}

/// Why no address answered; the last one that was tried.
#[derive(Debug)]
pub(crate) struct Unanswered<'a> {
    pub(crate) uri: &'a Uri,
    pub(crate) error: ClientError,
}

impl Dialer {
    /// To one broker.
    pub fn to(uri: Uri) -> Self {
        Self { uris: vec![uri] }
    }

    /// The first address.
    pub fn uri(&self) -> &Uri {
        &self.uris[0]
    }

    /// Connects and logs in: first at the address whose turn it is, then at the others.
    pub(crate) fn dial(&self, name: &str, turn: usize) -> Result<(Client, &Uri), Unanswered<'_>> {
        self.first_answer(turn, |uri| Client::connect(uri, name, PATIENCE))
    }

    /// The same without heartbeats, for a connection that is idle while the load runs.
    pub(crate) fn dial_idle(&self, name: &str) -> Result<(Client, &Uri), Unanswered<'_>> {
        self.first_answer(0, |uri| {
            let mut uri = uri.clone();
            uri.heartbeat_seconds = Some(0);
            Client::connect(&uri, name, PATIENCE)
        })
    }

    fn first_answer(
        &self,
        turn: usize,
        connect: impl Fn(&Uri) -> Result<Client, ClientError>,
    ) -> Result<(Client, &Uri), Unanswered<'_>> {
        let count = self.uris.len();
        let mut last = None;
        for uri in (0..count).map(|step| &self.uris[(turn + step) % count]) {
            match connect(uri) {
                Ok(client) => return Ok((client, uri)),
                Err(error) => last = Some(Unanswered { uri, error }),
            }
        }
        Err(last.expect("there is at least one address"))
    }
}
