//! State of a connection: its phase, and the deadline of the phase.
//!
//! ```text
//!  accepted ─► Head ─► Answering ─┬─► Sending ───┬─► Idle ─► Head …
//!                                 └─► Streaming ─┘
//!  the end of HTTP in any phase ─► Leaving ─► closed
//! ```
//!
//! hyper does not tell its phase. The state learns it from the bytes that the socket reads and writes, from the
//! beginning and the end of the handler, and from the drop of the response's body.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    net::IpAddr,
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::Limits;

/// Phase, peer and times of a connection. Its task, its socket and the table share it.
#[derive(Debug)]
pub(crate) struct Connection {
    peer: IpAddr,
    /// Address that the client connected to.
    local: IpAddr,
    phase: Cell<Phase>,
    since: Cell<Instant>,
    has_asked: Cell<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The head of a request is not complete.
    Head,
    /// The handler has the request.
    Answering,
    /// The client receives a response of this size.
    Sending {
        bytes: usize,
        is_last: bool,
    },
    /// The client receives events. `blocked` is the time since which its socket takes no more.
    Streaming {
        blocked: Option<Instant>,
        is_last: bool,
    },
    Idle,
    /// Nothing is sent any more, and the client's bytes are dropped.
    Leaving,
}

impl Connection {
    pub(crate) fn new(peer: IpAddr, local: IpAddr) -> Self {
        let (phase, since) = (Cell::new(Phase::Head), Cell::new(Instant::now()));
        Self { peer, local, phase, since, has_asked: Cell::new(false) }
    }

    pub(crate) fn peer(&self) -> IpAddr {
        self.peer
    }

    pub(crate) fn local(&self) -> IpAddr {
        self.local
    }

    /// Notes bytes from the client.
    pub(super) fn received(&self) {
        if self.phase.get() == Phase::Idle {
            self.enter(Phase::Head);
        }
    }

    /// Notes a complete head.
    pub(crate) fn asked(&self) {
        self.has_asked.set(true);
        self.enter(Phase::Answering);
    }

    /// Notes a response of this size, or a stream of events.
    pub(crate) fn answered(&self, bytes: Option<usize>) {
        self.enter(match bytes {
            Some(bytes) => Phase::Sending { bytes, is_last: false },
            None => Phase::Streaming { blocked: None, is_last: false },
        });
    }

    /// Notes that hyper has the last bytes of the body.
    pub(crate) fn body_ended(&self) {
        match self.phase.get() {
            Phase::Sending { bytes, .. } => self.phase.set(Phase::Sending { bytes, is_last: true }),
            Phase::Streaming { blocked, .. } => {
                self.phase.set(Phase::Streaming { blocked, is_last: true });
            }
            _ => {}
        }
    }

    /// Notes that the socket takes no more bytes.
    pub(super) fn blocked(&self) {
        if let Phase::Streaming { blocked: None, is_last } = self.phase.get() {
            self.phase.set(Phase::Streaming { blocked: Some(Instant::now()), is_last });
        }
    }

    /// Notes that the socket has taken all bytes.
    pub(super) fn flushed(&self) {
        match self.phase.get() {
            Phase::Sending { is_last: true, .. } | Phase::Streaming { is_last: true, .. } => {
                self.enter(Phase::Idle);
            }
            Phase::Streaming { blocked: Some(_), is_last } => {
                self.phase.set(Phase::Streaming { blocked: None, is_last });
            }
            _ => {}
        }
    }

    /// Notes the end of HTTP on the connection.
    pub(crate) fn left(&self) {
        self.enter(Phase::Leaving);
    }

    pub(super) fn is_streaming(&self) -> bool {
        matches!(self.phase.get(), Phase::Streaming { .. })
    }

    /// Returns the rank and age for closing connections when the server is full; the lowest goes first. In order:
    /// refused clients, clients without a request, idle clients, clients that do not read their response. `None`
    /// while the handler works, and for a stream that its client reads: such a connection stays.
    pub(super) fn dispensable(&self) -> Option<(u8, Instant)> {
        let rank = match self.phase.get() {
            Phase::Leaving => 0,
            Phase::Head if !self.has_asked.get() => 1,
            Phase::Head | Phase::Idle => 2,
            Phase::Sending { .. } | Phase::Streaming { blocked: Some(_), .. } => 3,
            Phase::Answering | Phase::Streaming { blocked: None, .. } => return None,
        };
        Some((rank, self.since.get()))
    }

    /// Returns true if the connection comes from this address and has not sent its first head.
    pub(super) fn is_unasked_of(&self, peer: IpAddr) -> bool {
        !self.has_asked.get() && self.peer == peer && self.phase.get() == Phase::Head
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        if let Phase::Sending { bytes, .. } = self.phase.get() { bytes } else { 0 }
    }

    /// Runs `work`, which moves the phase, until it ends or the deadline of a phase passes.
    pub(crate) async fn in_time<T>(
        &self,
        limits: &Limits,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        let mut clock = pin!(sleep(Duration::ZERO));
        poll_fn(|context| {
            if let Poll::Ready(result) = work.as_mut().poll(context) {
                return Poll::Ready(Some(result));
            }
            let Some(deadline) = self.deadline(limits) else { return Poll::Pending };
            if clock.deadline() != deadline {
                clock.as_mut().reset(deadline);
            }
            clock.as_mut().poll(context).map(|()| None)
        })
        .await
    }

    fn deadline(&self, limits: &Limits) -> Option<Instant> {
        let since = self.since.get();
        match self.phase.get() {
            Phase::Head => Some(since + limits.head),
            // The server answers in place of a late handler.
            Phase::Answering => None,
            Phase::Sending { .. } => Some(since + limits.response),
            Phase::Streaming { blocked, .. } => blocked.map(|since| since + limits.response),
            Phase::Idle => Some(since + limits.idle),
            Phase::Leaving => Some(since + limits.leaving),
        }
    }

    fn enter(&self, phase: Phase) {
        self.phase.set(phase);
        self.since.set(Instant::now());
    }
}
