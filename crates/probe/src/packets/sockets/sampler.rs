//! Samples connections repeatedly and reports the changes. Bounded: connections beyond a limit are only counted.

use std::{
    collections::hash_map::Entry,
    time::{Duration, Instant},
};

use rustc_hash::FxHashMap;

use super::{
    changes::{SocketChange, TcpProgress},
    dump::SocketDump,
    socket::TcpSocket,
    tcp_info::TcpInfo,
    totals::SocketTotals,
};
use crate::packets::{error::PacketError, namespace::NetworkNamespace, ports::PortSet};

/// Number of dumps without a connection after which it is gone. A dump can miss a connection while the kernel's
/// table changes.
const MISSES_UNTIL_GONE: u8 = 2;

/// Watches the connections of some ports.
#[derive(Debug)]
pub struct SocketSampler {
    dump: SocketDump,
    ports: PortSet,
    limit: usize,
    known: KnownSockets,
    sampled_at: Instant,
}

/// Changes between two samples.
#[derive(Clone, Debug)]
pub struct SocketSamples {
    /// Time between the samples.
    pub elapsed: Duration,
    /// Each present connection, in no order.
    pub changes: Vec<SocketChange>,
    /// Sums of all connections.
    pub totals: SocketTotals,
    /// Number of connections beyond the limit, without figures.
    pub left_out: usize,
}

impl SocketSampler {
    /// Takes the first sample of the connections with one of `ports` at either end, in `namespace` or in this
    /// process's network. Watches at most `limit` connections, at some 600 bytes each.
    pub fn start(
        ports: PortSet,
        namespace: Option<&NetworkNamespace>,
        limit: usize,
    ) -> Result<Self, PacketError> {
        let mut dump = SocketDump::open(namespace)?;
        let sampled_at = Instant::now();
        let (sockets, left_out) = dump.connections(&ports, limit)?;
        let mut known = KnownSockets::default();
        known.update(sockets, left_out);
        Ok(Self { dump, ports, limit, known, sampled_at })
    }

    /// Returns the changes since the last call, or since the start.
    pub fn sample(&mut self) -> Result<SocketSamples, PacketError> {
        let now = Instant::now();
        let (sockets, left_out) = self.dump.connections(&self.ports, self.limit)?;
        let elapsed = now.saturating_duration_since(self.sampled_at);
        self.sampled_at = now;
        let (changes, gone) = self.known.update(sockets, left_out);
        let totals = SocketTotals::from_changes(&changes, gone);
        Ok(SocketSamples { elapsed, changes, totals, left_out })
    }
}

/// The last figures of the connections, by cookie.
#[derive(Debug, Default)]
struct KnownSockets {
    sockets: FxHashMap<u64, KnownSocket>,
    /// True if the last dump had all connections. Otherwise a first sight does not make a connection new.
    is_complete: bool,
}

#[derive(Debug)]
struct KnownSocket {
    info: TcpInfo,
    /// Number of dumps in a row without it.
    misses: u8,
    is_seen: bool,
}

impl KnownSockets {
    /// Takes a dump. Returns the changes and the number of connections that have gone.
    fn update(&mut self, dumped: Vec<TcpSocket>, left_out: usize) -> (Vec<SocketChange>, usize) {
        let mut changes = Vec::with_capacity(dumped.len());
        for socket in dumped {
            changes.extend(self.change(socket));
        }
        let before = self.sockets.len();
        self.sockets.retain(|_, known| {
            known.misses = if known.is_seen { 0 } else { known.misses + 1 };
            known.is_seen = false;
            known.misses < MISSES_UNTIL_GONE
        });
        self.is_complete = left_out == 0;
        (changes, before - self.sockets.len())
    }

    /// The change of a connection. `None` if the dump has it twice.
    fn change(&mut self, socket: TcpSocket) -> Option<SocketChange> {
        let seen = KnownSocket { info: socket.info, misses: 0, is_seen: true };
        match self.sockets.entry(socket.cookie) {
            Entry::Occupied(known) if known.get().is_seen => None,
            Entry::Occupied(mut known) => {
                let progress = TcpProgress::between(&known.get().info, &socket.info);
                known.insert(seen);
                Some(SocketChange { socket, is_new: false, progress })
            }
            Entry::Vacant(place) => {
                place.insert(seen);
                let is_new = self.is_complete;
                let before = if is_new { TcpInfo::default() } else { socket.info };
                let progress = TcpProgress::between(&before, &socket.info);
                Some(SocketChange { socket, is_new, progress })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::socket::TcpState, *};

    fn socket(cookie: u64, sent: u64) -> TcpSocket {
        TcpSocket {
            cookie,
            local: "127.0.0.1:5672".parse().unwrap(),
            remote: "127.0.0.1:40000".parse().unwrap(),
            state: TcpState::Established,
            inode: cookie,
            user: 0,
            receive_queue: 0,
            send_queue: 0,
            congestion_control: None,
            memory: None,
            info: TcpInfo { sent_bytes: Some(sent), ..TcpInfo::default() },
        }
    }

    /// Expects for each connection cookie, newness and bytes sent since; and the number of gone ones.
    #[track_caller]
    fn check(
        known: &mut KnownSockets,
        dumped: &[(u64, u64)],
        left_out: usize,
        expected: (&[(u64, bool, u64)], usize),
    ) {
        let dumped = dumped.iter().map(|&(cookie, sent)| socket(cookie, sent)).collect();
        let (changes, gone) = known.update(dumped, left_out);
        let found: Vec<(u64, bool, u64)> = changes
            .iter()
            .map(|change| {
                (change.socket.cookie, change.is_new, change.progress.sent_bytes.unwrap())
            })
            .collect();
        assert_eq!((&found[..], gone), expected);
    }

    #[test]
    fn connections_come_and_go() {
        let mut known = KnownSockets::default();
        check(&mut known, &[(1, 500), (2, 7)], 0, (&[(1, false, 0), (2, false, 0)], 0));
        check(&mut known, &[(1, 600), (3, 40)], 0, (&[(1, false, 100), (3, true, 40)], 0));
        check(&mut known, &[(1, 600), (3, 40)], 0, (&[(1, false, 0), (3, false, 0)], 1));
        check(&mut known, &[], 0, (&[], 0));
        check(&mut known, &[], 0, (&[], 2));
        assert!(known.sockets.is_empty());
    }

    #[test]
    fn one_that_a_dump_has_missed_or_has_twice() {
        let mut known = KnownSockets::default();
        check(&mut known, &[(1, 500)], 0, (&[(1, false, 0)], 0));
        check(&mut known, &[], 0, (&[], 0));
        check(&mut known, &[(1, 900), (1, 900)], 0, (&[(1, false, 400)], 0));
    }

    #[test]
    fn beyond_the_limit_nothing_is_called_new() {
        let mut known = KnownSockets::default();
        check(&mut known, &[(1, 500)], 1, (&[(1, false, 0)], 0));
        check(&mut known, &[(1, 500), (2, 9000)], 0, (&[(1, false, 0), (2, false, 0)], 0));
        check(&mut known, &[(1, 500), (3, 30)], 0, (&[(1, false, 0), (3, true, 30)], 0));
    }
}
