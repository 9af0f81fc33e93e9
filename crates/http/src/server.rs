//! The thread that owns all sockets and blocks on none of them.

use std::{
    io::{self, ErrorKind, Write},
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use mio::{
    Events, Interest, Poll, Token, Waker,
    net::{TcpListener, TcpStream},
};

use super::{
    Limits, Listener, Request, Response, Status,
    access::Access,
    connection::{Connection, Next},
    connections::Connections,
    workers::{Answer, Workers},
};

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
/// First key of connections.
const FIRST_KEY: usize = 2;

/// Connections accepted in one turn before existing ones are served again.
const ACCEPTED_AT_A_TIME: usize = 64;

/// Pause after an accept that failed because all file descriptors were in use.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Timeout for the end of the thread, longer than a turn of the loop. If the machine hangs, the thread ends later.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// A running server. Dropping it frees the address and discards unsent responses.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    ended: Receiver<()>,
}

impl Server {
    /// Starts a server that answers with the result of `handler`, on threads of its own.
    pub fn start(
        listener: Listener,
        limits: Limits,
        handler: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let Listener { socket: mut listener, access } = listener;
        let address = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let (answered, answers) = mpsc::channel();
        let handler = Arc::new(handler);
        let workers = Workers::new(limits.workers, handler, answered, Arc::clone(&waker));
        let connections = Connections::new(limits);
        let stop = Arc::<AtomicBool>::default();
        let (next_key, accept_at) = (FIRST_KEY, None);
        let mut serving = EventLoop {
            poll,
            listener,
            access,
            connections,
            workers,
            answers,
            next_key,
            accept_at,
        };
        let (ending, ended) = mpsc::channel::<()>();
        let stopping = Arc::clone(&stop);
        thread::Builder::new().name("http".to_owned()).spawn(move || {
            while !stopping.load(Ordering::Relaxed) && serving.turn().is_ok() {}
            drop((serving, ending));
        })?;
        Ok(Self { address, stop, waker, ended })
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.waker.wake();
        let _ = self.ended.recv_timeout(END_TIMEOUT);
    }
}

#[derive(Debug)]
struct EventLoop {
    poll: Poll,
    listener: TcpListener,
    access: Access,
    connections: Connections,
    workers: Workers,
    answers: Receiver<Answer>,
    next_key: usize,
    /// Time from which clients may wait to be accepted.
    accept_at: Option<Instant>,
}

impl EventLoop {
    /// Waits for events or a deadline, and handles them.
    fn turn(&mut self) -> io::Result<()> {
        let next = self.accept_at.into_iter().chain(self.connections.next_deadline()).min();
        let timeout = next.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let mut events = Events::with_capacity(1024);
        match self.poll.poll(&mut events, timeout) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let now = Instant::now();
        for event in &events {
            match event.token() {
                LISTENER => self.accept_at = Some(now),
                WAKER => {}
                Token(key) => self.advance(key, now),
            }
        }
        self.take_answers(now);
        if self.accept_at.is_some_and(|due| due <= now) {
            self.accept(now);
        }
        self.end_overdue(now);
        Ok(())
    }

    fn take_answers(&mut self, now: Instant) {
        while let Ok((key, response)) = self.answers.try_recv() {
            self.workers.answered();
            // The client may have disconnected in the meantime.
            let Some(connection) = self.connections.get(key) else { continue };
            connection.answer(response, now);
            self.advance_with_response(key, now);
        }
    }

    fn answer_unavailable(&mut self, key: usize, reason: &str, now: Instant) {
        if let Some(connection) = self.connections.get(key) {
            connection.answer_and_close(Response::text(Status::UNAVAILABLE, reason), now);
            self.advance_with_response(key, now);
        }
    }

    fn advance_with_response(&mut self, key: usize, now: Instant) {
        self.advance(key, now);
        while let Some(other) = self.connections.holds_too_much(key) {
            self.connections.close(other);
        }
    }

    fn advance(&mut self, key: usize, now: Instant) {
        let Some(connection) = self.connections.get(key) else { return };
        match connection.advance(&self.access, now) {
            Next::Wait => {}
            Next::Close => self.connections.close(key),
            Next::Answer(request) => {
                if !self.workers.hand_over(key, request) {
                    self.answer_unavailable(key, "no thread is available for the answer", now);
                }
            }
        }
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..ACCEPTED_AT_A_TIME {
            match self.listener.accept() {
                Ok((stream, peer)) if self.connections.can_take_one() => {
                    // A connection that cannot be set up is closed.
                    let _ = self.take(stream, peer.ip(), now);
                }
                Ok((stream, _)) => refuse(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accept_at = None;
                    return;
                }
                Err(error) if went_away(&error) => {}
                Err(_) => {
                    self.accept_at = Some(now + ACCEPT_RETRY_INTERVAL);
                    return;
                }
            }
        }
        self.accept_at = Some(now);
    }

    /// Takes a new connection, and closes another one if the server is full. First lets it advance: most clients have
    /// sent their request by now, and then stay.
    fn take(&mut self, mut stream: TcpStream, peer: IpAddr, now: Instant) -> io::Result<()> {
        let key = self.next_key;
        self.next_key += 1;
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut stream, Token(key), both)?;
        self.connections.insert(key, Connection::new(stream, peer, now)?);
        self.advance(key, now);
        while let Some(other) = self.connections.surplus(key) {
            self.connections.close(other);
        }
        Ok(())
    }

    fn end_overdue(&mut self, now: Instant) {
        for key in self.connections.overdue(now) {
            if self.connections.get(key).is_some_and(|connection| connection.is_answering()) {
                self.answer_unavailable(key, "the answer takes too long", now);
            } else {
                self.connections.close(key);
            }
        }
    }
}

/// Returns true if the accept was interrupted, or the client left before it.
fn went_away(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted)
}

/// Refuses a client while workers make responses for all connections. The reason is sent if the socket takes it at
/// once.
fn refuse(mut stream: TcpStream) {
    let busy = Response::text(Status::UNAVAILABLE, "too many requests at a time");
    let _ = stream.write(&[busy.head(false).as_bytes(), &busy.body].concat());
}
