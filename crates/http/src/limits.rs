//! Limits on the time of each phase of a connection, and on memory.

use std::time::Duration;

/// Bounds of a server. Times are deadlines; bytes that trickle in do not extend them.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Timeout of a complete head: from the accept for the first, from its first byte for later ones.
    pub head: Duration,
    /// Timeout of the handler.
    pub answer: Duration,
    /// Timeout for sending a complete response, or for a client of events to take those that are being sent.
    pub response: Duration,
    /// Timeout between two requests on a connection.
    pub idle: Duration,
    /// Timeout for the client to close after its last response.
    pub leaving: Duration,
    /// Largest number of connections.
    pub connections: usize,
    /// Largest number of connections from one address without a complete first head.
    pub unasked_of_peer: usize,
    /// Largest memory of all responses that are being sent. One response is always sent.
    pub unsent_bytes: usize,
    /// Largest number of clients that receive events.
    pub viewers: usize,
    /// Number of threads that run the handler.
    pub workers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A head fits into the first flight of segments. If these are lost three times in a row they arrive
            // after 1 + 2 + 4 s (RFC 6298). Prometheus itself times out after 10 s.
            head: Duration::from_secs(10),
            // Longer than the reading of a node may take; `Readings` reports its own timeout.
            answer: Duration::from_secs(60),
            // 100,000 queues are 17 MB of JSON, which takes 14 s at 10 Mbit/s; twice that.
            response: Duration::from_secs(30),
            // Scrapers usually return within a minute, and then find their connection open.
            idle: Duration::from_secs(75),
            // Three round trips around the world.
            leaving: Duration::from_secs(1),
            // A few scrapers and people. 256 heads are 4 MiB, and 256 sockets a quarter of the usual limit of
            // descriptors (1,024), which the load also needs.
            connections: 256,
            // Half: one address without requests must not keep others out.
            unasked_of_peer: 128,
            // Three and a half lists of 100,000 queues, or 128 of 3,000.
            unsent_bytes: 64 << 20,
            // A quarter of the connections, so that viewers leave room for requests.
            viewers: 64,
            // Most of them wait for the same reading of the node.
            workers: 32,
        }
    }
}
