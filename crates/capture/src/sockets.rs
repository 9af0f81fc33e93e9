//! The kernel's figures of sockets, over the time of a capture.

use std::{collections::HashMap, time::Duration};

use rabbitscope_probe::packets::{SocketChange, SocketSamples, TcpProgress};
use rabbitscope_wire::report::{ConnectionReport, SocketReport};

use crate::ports::BrokerPorts;

/// Number of sockets with figures, including closed ones.
const MAX_SOCKETS: usize = 32_768;

/// Number of sockets with their own row.
const MAX_ROWS: usize = 1_000;

/// Sums of the changes from sample to sample.
#[derive(Debug)]
pub(super) struct SocketFigures {
    ports: BrokerPorts,
    sockets: HashMap<u64, SocketTotals>,
    /// Highest number of connections that were unwatched at the same time.
    left_out: usize,
    /// Number of connections that appeared after the limit was reached.
    late: u64,
}

#[derive(Debug)]
struct SocketTotals {
    last: SocketChange,
    observed: Duration,
    progress: TcpProgress,
    max_unsent: Option<u64>,
    max_unread: u64,
}

impl SocketFigures {
    pub(super) fn new(ports: BrokerPorts) -> Self {
        Self { ports, sockets: HashMap::new(), left_out: 0, late: 0 }
    }

    pub(super) fn add(&mut self, samples: SocketSamples) {
        self.left_out = self.left_out.max(samples.left_out);
        for change in samples.changes {
            let unsent = change.socket.info.unsent_bytes.map(u64::from);
            let unread = u64::from(change.socket.receive_queue);
            let cookie = change.socket.cookie;
            if self.sockets.len() >= MAX_SOCKETS && !self.sockets.contains_key(&cookie) {
                self.late += u64::from(change.is_new);
                continue;
            }
            let totals = self.sockets.entry(cookie).or_insert_with(|| SocketTotals {
                last: change.clone(),
                observed: Duration::ZERO,
                progress: TcpProgress::default(),
                max_unsent: None,
                max_unread: 0,
            });
            totals.observed += samples.elapsed;
            totals.progress.add(&change.progress);
            totals.max_unsent = totals.max_unsent.max(unsent);
            totals.max_unread = totals.max_unread.max(unread);
            totals.last = change;
        }
    }

    /// Returns the window scales that a capture lacks if it started after the handshake: sender, receiver and shift in
    /// bits.
    pub(super) fn window_scales(
        samples: &SocketSamples,
    ) -> impl Iterator<Item = (std::net::SocketAddr, std::net::SocketAddr, u8)> {
        samples.changes.iter().flat_map(|change| {
            let (socket, info) = (&change.socket, &change.socket.info);
            let own = info.receive_window_scale.map(|shift| (socket.local, socket.remote, shift));
            let of_peer = info.send_window_scale.map(|shift| (socket.remote, socket.local, shift));
            own.into_iter().chain(of_peer)
        })
    }

    /// Returns the number of connections that were not watched because of the limit.
    pub(super) const fn left_out(&self) -> u64 {
        self.left_out as u64 + self.late
    }

    /// Adds the kernel's round trips to all connections, also to those whose socket has no row.
    pub(super) fn fill_round_trips(&self, connections: &mut [ConnectionReport]) {
        let smallest: HashMap<(String, String), u64> = self
            .sockets
            .values()
            .filter_map(|totals| {
                let socket = &totals.last.socket;
                let ends = (socket.local.to_string(), socket.remote.to_string());
                Some((ends, nanos(socket.info.smallest_round_trip?)))
            })
            .collect();
        for connection in connections {
            let ends = (connection.broker.clone(), connection.client.clone());
            connection.kernel_round_trip_nanos = smallest.get(&ends).copied();
        }
    }

    /// Returns the sockets, busiest first.
    pub(super) fn report(self) -> Vec<SocketReport> {
        let Self { ports, sockets, .. } = self;
        let mut reports: Vec<SocketReport> =
            sockets.into_values().map(|totals| report(&totals, &ports)).collect();
        reports.sort_by(|one, other| {
            other
                .busy
                .unwrap_or(0.0)
                .total_cmp(&one.busy.unwrap_or(0.0))
                .then_with(|| other.sent_bytes.cmp(&one.sent_bytes))
                .then_with(|| one.local.cmp(&other.local))
        });
        reports.truncate(MAX_ROWS);
        reports
    }
}

fn report(totals: &SocketTotals, ports: &BrokerPorts) -> SocketReport {
    let SocketTotals { last, observed, progress, .. } = totals;
    let outgoing = ports.is_outgoing(last.socket.local.port(), last.socket.remote.port());
    let share = |part: Option<Duration>| {
        let part = part.filter(|_| !observed.is_zero())?;
        Some(part.div_duration_f64(*observed).min(1.0))
    };
    SocketReport {
        local: last.socket.local.to_string(),
        remote: last.socket.remote.to_string(),
        of_broker: outgoing || ports.listening().contains(last.socket.local.port()),
        outgoing,
        observed_nanos: nanos(*observed),
        busy: share(progress.busy),
        receiver_limited: share(progress.receiver_limited),
        send_buffer_limited: share(progress.send_buffer_limited),
        sent_bytes: progress.sent_bytes,
        data_segments_sent: progress.data_segments_out,
        received_bytes: progress.received_bytes,
        data_segments_received: progress.data_segments_in,
        retransmitted: progress.retransmitted_segments,
        min_round_trip_nanos: last.socket.info.smallest_round_trip.map(nanos),
        max_unsent_bytes: totals.max_unsent,
        max_unread_bytes: Some(totals.max_unread),
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
