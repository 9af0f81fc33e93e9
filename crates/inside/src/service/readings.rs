//! The thread that has the connection and looks at the node when somebody asks.

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError, ErrorKind};

use crate::{Listing, QueueReader, Wanted};

/// Somebody who waits for a look.
type Waiting = mpsc::Sender<Result<Arc<Listing>, String>>;

/// Longer than a look ever takes.
const PATIENCE: Duration = Duration::from_secs(40);

/// Asks the reader's thread.
#[derive(Clone, Debug)]
pub(super) struct Readings {
    asking: mpsc::Sender<Waiting>,
    latest: Arc<Mutex<Option<Arc<Listing>>>>,
}

impl Readings {
    /// Begins with a connection that stands; it is made again should it be lost.
    pub(super) fn start(connection: Connection, options: ConnectOptions) -> Self {
        let (asking, asked) = mpsc::channel::<Waiting>();
        let latest = Arc::default();
        let readings = Self { asking, latest: Arc::clone(&latest) };
        thread::spawn(move || {
            let mut first = Some(connection);
            while let Ok(waiting) = asked.recv() {
                let connection = match first.take() {
                    Some(connection) => Ok(connection),
                    None => Connection::open(&options),
                };
                let outcome =
                    connection.and_then(|it| answer_all(&it, waiting.clone(), &asked, &latest));
                if let Err(error) = outcome {
                    // Whoever was answered already does not listen any more.
                    let _ = waiting.send(Err(error.to_string()));
                }
            }
        });
        readings
    }

    /// What a look found that began after this was called, or at most so long before.
    pub(super) fn next(&self, max_age: Duration) -> Result<Arc<Listing>, String> {
        if let Some(latest) = self.latest(max_age) {
            return Ok(latest);
        }
        let (waiting, answer) = mpsc::channel();
        let ended = |_| "the reader has ended".to_owned();
        self.asking.send(waiting).map_err(|_| ended(mpsc::RecvError))?;
        answer.recv_timeout(PATIENCE).map_err(|_| "the node does not answer".to_owned())?
    }

    fn latest(&self, max_age: Duration) -> Option<Arc<Listing>> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        (latest.began + max_age > Instant::now()).then_some(latest)
    }
}

/// Looks for everybody who waits, until the connection is lost or nobody can ask any more.
fn answer_all(
    connection: &Connection,
    first: Waiting,
    asked: &mpsc::Receiver<Waiting>,
    latest: &Mutex<Option<Arc<Listing>>>,
) -> Result<(), ErlangError> {
    let mut reader = QueueReader::new(connection)?;
    let mut waiting = vec![first];
    loop {
        waiting.extend(asked.try_iter());
        let reading = reader.read_tables(&Wanted::default()).map(Arc::new);
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = reading.as_ref().ok().cloned();
        let lost = matches!(&reading, Err(error) if error.kind() == ErrorKind::Unreachable);
        for one in waiting.drain(..) {
            // A client that went away needs no answer.
            let _ = one.send(reading.as_ref().map(Arc::clone).map_err(ToString::to_string));
        }
        if lost {
            return Ok(());
        }
        match asked.recv() {
            Ok(next) => waiting.push(next),
            Err(_) => return reader.end(),
        }
    }
}
