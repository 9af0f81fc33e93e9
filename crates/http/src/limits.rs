//! How long each phase of a connection may take, and how much all of them may hold.

use std::time::Duration;

/// Bounds of a server. Times are deadlines on the clock: what trickles in does not extend them.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Timeout of a complete head: from the accept, later from its first byte.
    pub head: Duration,
    /// Timeout of the handler.
    pub answer: Duration,
    /// Timeout for sending a complete response.
    pub response: Duration,
    /// Timeout between two requests on a connection.
    pub idle: Duration,
    /// Timeout for the client to close after its last response.
    pub leaving: Duration,
    /// Largest number of connections.
    pub connections: usize,
    /// Largest number of connections from one address without a complete first head.
    pub unasked_of_peer: usize,
    /// Largest memory of all responses that are being sent; one is always sent.
    pub unsent_bytes: usize,
    /// Number of threads that run the handler.
    pub workers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A head fits into the first flight of segments. When they are lost three times in a row
            // they arrive after 1 + 2 + 4 s (RFC 6298). Prometheus gives up after 10 s itself.
            head: Duration::from_secs(10),
            // Longer than a look at a node may take (`Readings`), which says so by itself.
            answer: Duration::from_secs(60),
            // 100,000 queues are 17 MB of JSON, which takes 14 s at 10 Mbit/s; twice that.
            response: Duration::from_secs(30),
            // Scrapers come back after a minute at most, as a rule, and then find their connection.
            idle: Duration::from_secs(75),
            // A round trip around the world, three times.
            leaving: Duration::from_secs(1),
            // A few scrapers and people. 256 heads are 4 MiB and a quarter of the usual limit of
            // descriptors (1,024), which the load needs too.
            connections: 256,
            // Half: what one address holds without asking never is what keeps others out.
            unasked_of_peer: 128,
            // Three and a half lists of 100,000 queues, or 128 of 3,000.
            unsent_bytes: 64 << 20,
            // They mostly wait for the same look at the node.
            workers: 32,
        }
    }
}
