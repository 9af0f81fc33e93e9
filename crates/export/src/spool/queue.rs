//! Waiting requests in order, oldest first.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use super::SpoolDirectory;

/// The queue of one exporter. Pushing never waits for sending.
#[derive(Debug)]
pub(crate) struct Spool {
    /// Queue. Its lock is held while a file is read or written.
    state: Mutex<State>,
    /// Sizes of the queue, for readers that must not wait.
    entries: AtomicU64,
    bytes: AtomicU64,
    changed: Condvar,
    directory: Option<SpoolDirectory>,
    max_bytes: u64,
}

#[derive(Debug)]
struct State {
    entries: VecDeque<Entry>,
    bytes: u64,
    next: u64,
    /// The first entry is being sent, and must not be dropped.
    is_sending: bool,
    /// Deadline after which nothing is sent.
    until: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    bytes: u64,
    /// The body; `None` if it is in a file.
    body: Option<Arc<[u8]>>,
}

/// Outcome of a push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pushed {
    /// Number of entries that were dropped for room.
    pub(crate) dropped: u64,
    /// The new entry does not fit into the spool.
    pub(crate) is_too_large: bool,
    /// The new entry could not be written.
    pub(crate) is_unwritten: bool,
}

/// Size of the waiting requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpoolSize {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

/// Next action of the sender.
#[derive(Debug)]
pub(crate) enum Next {
    /// An entry to send. The number is unique while the spool is open.
    Send { number: u64, body: Arc<[u8]> },
    /// The entry's file was unreadable, and is removed.
    Unreadable,
    /// There are no more requests.
    End,
}

impl Spool {
    /// Opens the spool with the requests that an earlier process left in the directory. Also returns the number of
    /// entries that were dropped because the limit is lower now.
    pub(crate) fn open(
        directory: Option<SpoolDirectory>,
        max_bytes: u64,
    ) -> io::Result<(Self, u64)> {
        let found = directory.as_ref().map_or(Ok(Vec::new()), SpoolDirectory::entries)?;
        let next = found.last().map_or(0, |(number, _)| number + 1);
        let bytes = found.iter().map(|(_, bytes)| bytes).sum();
        let entries = found.into_iter().map(|(number, bytes)| Entry { number, bytes, body: None });
        let entries = entries.collect();
        let state = State { entries, bytes, next, is_sending: false, until: None };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let (entries, bytes) = (AtomicU64::default(), AtomicU64::default());
        let spool = Self { state, entries, bytes, changed, directory, max_bytes };
        let mut state = spool.lock();
        let dropped = spool.make_room(&mut state, 0);
        spool.publish(&state);
        drop(state);
        Ok((spool, dropped))
    }

    pub(crate) fn push(&self, body: Vec<u8>) -> Pushed {
        if body.len() as u64 > self.max_bytes {
            return Pushed { is_too_large: true, ..Pushed::default() };
        }
        let mut state = self.lock();
        let pushed = self.push_into(&mut state, body);
        self.publish(&state);
        self.changed.notify_all();
        pushed
    }

    fn push_into(&self, state: &mut State, body: Vec<u8>) -> Pushed {
        let bytes = body.len() as u64;
        let dropped = self.make_room(state, bytes);
        if state.bytes + bytes > self.max_bytes {
            // Only the entry that is being sent is left, and both do not fit.
            return Pushed { dropped, is_too_large: true, ..Pushed::default() };
        }
        let number = state.next;
        let body = match &self.directory {
            Some(directory) => match directory.write(number, &body) {
                Ok(()) => None,
                Err(_) => return Pushed { dropped, is_unwritten: true, ..Pushed::default() },
            },
            None => Some(Arc::from(body)),
        };
        state.next += 1;
        state.bytes += bytes;
        state.entries.push_back(Entry { number, bytes, body });
        Pushed { dropped, ..Pushed::default() }
    }

    fn make_room(&self, state: &mut State, bytes: u64) -> u64 {
        let mut dropped = 0;
        while state.bytes + bytes > self.max_bytes {
            let Some(entry) = state.entries.remove(usize::from(state.is_sending)) else { break };
            self.remove(state, &entry);
            dropped += 1;
        }
        dropped
    }

    fn remove(&self, state: &mut State, entry: &Entry) {
        state.bytes -= entry.bytes;
        if let (Some(directory), None) = (&self.directory, &entry.body) {
            directory.remove(entry.number);
        }
    }

    /// Waits for an entry, which stays in the queue until [`Self::done`] or [`Self::keep`].
    pub(crate) fn next(&self) -> Next {
        let mut state = self.lock();
        loop {
            let is_over = state.until.is_some_and(|until| Instant::now() >= until);
            match state.entries.front() {
                _ if is_over => return Next::End,
                Some(entry) => {
                    let Some(body) = self.body(entry) else {
                        self.forget_first(&mut state);
                        return Next::Unreadable;
                    };
                    let number = entry.number;
                    state.is_sending = true;
                    return Next::Send { number, body };
                }
                None if state.until.is_some() => return Next::End,
                None => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn body(&self, entry: &Entry) -> Option<Arc<[u8]>> {
        match (&entry.body, &self.directory) {
            (Some(body), _) => Some(Arc::clone(body)),
            (None, Some(directory)) => {
                directory.read(entry.number, self.max_bytes).ok().map(Arc::from)
            }
            (None, None) => None,
        }
    }

    fn forget_first(&self, state: &mut State) {
        state.is_sending = false;
        if let Some(entry) = state.entries.pop_front() {
            self.remove(state, &entry);
        }
        self.publish(state);
    }

    /// Removes the entry that was being sent.
    pub(crate) fn done(&self) {
        self.forget_first(&mut self.lock());
    }

    /// Keeps the entry for another attempt, unless it is dropped for room.
    pub(crate) fn keep(&self) {
        self.lock().is_sending = false;
    }

    /// Waits until `time`, or until the deadline of [`Self::close`].
    pub(crate) fn pause_until(&self, time: Instant) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let end = state.until.map_or(time, |until| until.min(time));
            let left = end.saturating_duration_since(now);
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Closes the spool: there are no more pushes, and nothing is sent after this time.
    pub(crate) fn close(&self, until: Instant) {
        self.lock().until = Some(until);
        self.changed.notify_all();
    }

    /// Returns the size without waiting.
    pub(crate) fn size(&self) -> SpoolSize {
        let [entries, bytes] =
            [&self.entries, &self.bytes].map(|figure| figure.load(Ordering::Relaxed));
        SpoolSize { entries, bytes }
    }

    fn publish(&self, state: &State) {
        self.entries.store(state.entries.len() as u64, Ordering::Relaxed);
        self.bytes.store(state.bytes, Ordering::Relaxed);
    }

    /// Returns true if waiting requests survive the end of the process.
    pub(crate) fn is_lasting(&self) -> bool {
        self.directory.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn taken(spool: &Spool) -> Option<u8> {
        match spool.next() {
            Next::Send { body, .. } => Some(body[0]),
            Next::Unreadable => panic!("the file is there"),
            Next::End => None,
        }
    }

    fn body(first: u8, bytes: usize) -> Vec<u8> {
        let mut body = vec![0; bytes];
        body[0] = first;
        body
    }

    fn check_order(spool: &Spool) {
        for first in 1..=4 {
            let expected = Pushed { dropped: u64::from(first == 4), ..Pushed::default() };
            assert_eq!(spool.push(body(first, 30)), expected, "{first}");
        }
        assert_eq!(spool.size(), SpoolSize { entries: 3, bytes: 90 });
        assert_eq!(taken(spool), Some(2));
        // The entry that is being sent stays; the next ones are dropped.
        assert_eq!(spool.push(body(5, 70)).dropped, 2);
        assert_eq!(taken(spool), Some(2), "the same again");
        spool.keep();
        assert!(spool.push(body(6, 101)).is_too_large);
        spool.done();
        assert_eq!(taken(spool), Some(5));
        spool.done();
        assert_eq!(spool.size(), SpoolSize::default());
    }

    #[test]
    fn the_oldest_give_way() {
        let (spool, dropped) = Spool::open(None, 100).unwrap();
        assert_eq!(dropped, 0);
        check_order(&spool);
        spool.close(Instant::now());
        assert_eq!(taken(&spool), None);
    }

    #[test]
    fn a_directory_outlives_the_end() {
        let place = tempfile::tempdir().unwrap();
        let open = |max_bytes| {
            let directory = SpoolDirectory::open(&place.path().join("a")).unwrap();
            Spool::open(Some(directory), max_bytes).unwrap()
        };
        check_order(&open(100).0);
        assert_eq!(fs::read_dir(place.path().join("a")).unwrap().count(), 0);
        let (spool, _) = open(100);
        for first in 1..=3 {
            spool.push(body(first, 30));
        }
        drop(spool);
        // A half-written file, and a foreign one.
        fs::write(place.path().join("a/.00000000000000000009"), "half").unwrap();
        fs::write(place.path().join("a/notes"), "of somebody").unwrap();
        let (spool, dropped) = open(70);
        assert_eq!(dropped, 1);
        assert_eq!(taken(&spool), Some(2));
        spool.done();
        assert_eq!(spool.push(body(4, 10)), Pushed::default());
        assert_eq!(taken(&spool), Some(3));
        spool.done();
        assert_eq!(taken(&spool), Some(4));
        spool.done();
        let left: Vec<_> = fs::read_dir(place.path().join("a")).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn one_directory_has_one_user() {
        let place = tempfile::tempdir().unwrap();
        let lock = super::super::lock_directory(place.path()).unwrap();
        let said = super::super::lock_directory(place.path()).unwrap_err().to_string();
        assert!(said.contains("another rabbitscope"), "{said}");
        drop(lock);
        super::super::lock_directory(place.path()).unwrap();
    }
}
