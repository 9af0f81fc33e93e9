//! The thread that owns the connection and reads the node on request. The next reading answers all requests that arrive
//! during a reading.

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError, ErrorKind};

use crate::queues::{Listing, QueueFilter, QueueReader};

/// The channel to a request that waits for a reading.
type Waiting = mpsc::Sender<Result<Arc<Listing>, String>>;

/// Timeout that exceeds the duration of a reading: 30 s for the tables, after a new connection.
const READ_TIMEOUT: Duration = Duration::from_secs(40);

/// A handle to the thread.
#[derive(Clone, Debug)]
pub(super) struct SharedReader {
    requests: mpsc::Sender<Waiting>,
    latest: Arc<Mutex<Option<Arc<Listing>>>>,
}

impl SharedReader {
    /// Starts the thread with an open connection. After the loss of the connection, the thread opens a new one.
    pub(super) fn start(connection: Connection, options: ConnectOptions) -> Self {
        let (requests, received) = mpsc::channel::<Waiting>();
        let latest = Arc::default();
        let reader = Self { requests, latest: Arc::clone(&latest) };
        thread::spawn(move || {
            let mut first = Some(connection);
            while let Ok(waiting) = received.recv() {
                let connection = match first.take() {
                    Some(connection) => Ok(connection),
                    None => Connection::open(&options),
                };
                let outcome = connection.and_then(|connection| {
                    answer_all(&connection, waiting.clone(), &received, &latest)
                });
                if let Err(error) = outcome {
                    // An already answered request has dropped its receiver.
                    let _ = waiting.send(Err(error.to_string()));
                }
            }
        });
        reader
    }

    /// Returns the result of a reading that began after this call, or at most `max_age` before it.
    pub(super) fn next(&self, max_age: Duration) -> Result<Arc<Listing>, String> {
        if let Some(latest) = self.latest(max_age) {
            return Ok(latest);
        }
        let (waiting, answer) = mpsc::channel();
        let ended = |_| "the reader has ended".to_owned();
        self.requests.send(waiting).map_err(|_| ended(mpsc::RecvError))?;
        answer.recv_timeout(READ_TIMEOUT).map_err(|_| "the node does not answer".to_owned())?
    }

    fn latest(&self, max_age: Duration) -> Option<Arc<Listing>> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        (latest.began + max_age > Instant::now()).then_some(latest)
    }
}

/// Reads for all waiting requests, until the connection is lost or all handles are dropped.
fn answer_all(
    connection: &Connection,
    first: Waiting,
    received: &mpsc::Receiver<Waiting>,
    latest: &Mutex<Option<Arc<Listing>>>,
) -> Result<(), ErlangError> {
    let mut reader = QueueReader::new(connection)?;
    let mut waiting = vec![first];
    loop {
        waiting.extend(received.try_iter());
        let reading = reader.read_tables(&QueueFilter::default()).map(Arc::new);
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = reading.as_ref().ok().cloned();
        let lost = matches!(&reading, Err(error) if error.kind() == ErrorKind::Unreachable);
        for one in waiting.drain(..) {
            // A client that has disconnected needs no answer.
            let _ = one.send(reading.as_ref().map(Arc::clone).map_err(ToString::to_string));
        }
        if lost {
            return Ok(());
        }
        match received.recv() {
            Ok(next) => waiting.push(next),
            Err(_) => return reader.end(),
        }
    }
}
