//! Fetches the debug files of a recording, one after another. The thread that fetches has no privileges and can be
//! abandoned when time is up.

use std::{
    fs::File,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::MissingDebugFile;

use super::{
    cache::{Cache, Cached},
    client::{Client, Refusal, require_build},
    outcome::{Absence, Origin, Outcome, short},
    settings::{Server, Settings},
};

/// Interval between checks of the stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time for a thread that is told to stop, in which it reports the outcome of each file.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The outcome of each file, and a problem with the cache if there was one.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) cache_problem: Option<String>,
}

/// Progress: the number of finished files, the number of all files, and the next one.
pub(super) struct FetchProgress<'a> {
    pub(super) done: usize,
    pub(super) all: usize,
    pub(super) next: &'a str,
    pub(super) elapsed: Duration,
}

/// Fetches the files in their order. Always returns within the time of the settings. Once `stop` is
/// set, no further server is asked.
pub(super) fn fetch(
    settings: Settings,
    wanted: Vec<MissingDebugFile>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(FetchProgress<'_>),
) -> Fetched {
    let mut waiting = Waiting {
        // Slightly longer than the requests' own limit, because their message is more precise.
        until: Instant::now() + settings.limits.total + STOP_GRACE,
        is_over: Arc::new(AtomicBool::new(stop.load(Ordering::Relaxed))),
        began: Instant::now(),
        wanted,
        fetched: Fetched { outcomes: Vec::new(), cache_problem: None },
    };
    let total = settings.limits.total;
    match waiting.start(settings) {
        Ok(results) => waiting.receive_all(&results, stop, progress),
        Err(error) => {
            let problem = format!("debuginfod: cannot start a thread: {error}");
            waiting.fetched.cache_problem = Some(problem);
        }
    }
    let is_stopped = stop.load(Ordering::Relaxed);
    waiting.end(&if is_stopped { Absence::Stopped } else { Absence::OutOfTime(total) })
}

/// The side that waits for the thread.
struct Waiting {
    wanted: Vec<MissingDebugFile>,
    began: Instant,
    until: Instant,
    /// Tells the thread to ask no further server.
    is_over: Arc<AtomicBool>,
    fetched: Fetched,
}

impl Waiting {
    fn start(&self, settings: Settings) -> io::Result<mpsc::Receiver<Message>> {
        let (results, received) = mpsc::channel();
        let (wanted, is_over) = (self.wanted.clone(), Arc::clone(&self.is_over));
        thread::Builder::new().name("debuginfod".to_owned()).spawn(move || {
            // The thread opens and creates files in the cache with the user's rights.
            if rabbitscope_probe::drop_privileges().is_ok() {
                Fetcher::start(settings, is_over, &results).fetch_all(wanted, &results);
            }
        })?;
        Ok(received)
    }

    fn receive_all(
        &mut self,
        results: &mpsc::Receiver<Message>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(FetchProgress<'_>),
    ) {
        while let Some(next) = self.wanted.get(self.fetched.outcomes.len()) {
            let (done, all, elapsed) =
                (self.fetched.outcomes.len(), self.wanted.len(), self.began.elapsed());
            progress(FetchProgress { done, all, next: short(&next.path), elapsed });
            match results.recv_timeout(POLL_INTERVAL) {
                Ok(Message::Outcome(outcome)) => self.fetched.outcomes.push(outcome),
                Ok(Message::CacheProblem(problem)) => self.fetched.cache_problem = Some(problem),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if stop.load(Ordering::Relaxed) && !self.is_over.swap(true, Ordering::Relaxed) {
                self.until = self.until.min(Instant::now() + STOP_GRACE);
            }
            if Instant::now() > self.until {
                self.is_over.store(true, Ordering::Relaxed);
                return;
            }
        }
    }

    /// Counts files that did not arrive as absent.
    fn end(mut self, absence: &Absence) -> Fetched {
        let missing = self.wanted.into_iter().skip(self.fetched.outcomes.len());
        self.fetched.outcomes.extend(missing.map(|wanted| Outcome {
            wanted,
            found: None,
            absences: vec![absence.clone()],
        }));
        self.fetched
    }
}

enum Message {
    Outcome(Outcome),
    CacheProblem(String),
}

/// The side on the thread.
struct Fetcher {
    settings: Settings,
    client: Client,
    cache: Option<Cache>,
    /// Failed servers, in the order of the settings.
    has_failed: Vec<bool>,
    is_over: Arc<AtomicBool>,
}

impl Fetcher {
    fn start(settings: Settings, is_over: Arc<AtomicBool>, to: &mpsc::Sender<Message>) -> Self {
        let cache = Cache::open(settings.cache.as_deref());
        if let Err(error) = &cache {
            let problem = format!("debuginfod: the cache is not used: {error}");
            let _ = to.send(Message::CacheProblem(problem));
        }
        let client = Client::new(settings.limits);
        let has_failed = vec![false; settings.servers.len()];
        Self { settings, client, cache: cache.ok(), has_failed, is_over }
    }

    fn fetch_all(mut self, wanted: Vec<MissingDebugFile>, to: &mpsc::Sender<Message>) {
        for wanted in wanted {
            let outcome = self.fetch(wanted);
            if to.send(Message::Outcome(outcome)).is_err() {
                return;
            }
        }
    }

    fn fetch(&mut self, wanted: MissingDebugFile) -> Outcome {
        let mut absences = Vec::new();
        let found = match self.cached(&wanted.build_id) {
            Some(Ok(file)) => {
                Some((file, Origin::Cache(self.settings.cache.clone().unwrap_or_default())))
            }
            Some(Err(Absence::KnownMissing)) => {
                absences.push(Absence::KnownMissing);
                None
            }
            Some(Err(refused)) => {
                absences.push(refused);
                self.ask_servers(&wanted.build_id, &mut absences)
            }
            None => self.ask_servers(&wanted.build_id, &mut absences),
        };
        Outcome { wanted, found, absences }
    }

    /// Returns the entry of the cache, or `None` if servers must be asked.
    fn cached(&self, build_id: &str) -> Option<Result<File, Absence>> {
        match self.cache.as_ref()?.find(build_id) {
            Cached::File(file) => {
                Some(require_build(&file, build_id).map(|()| file).map_err(Absence::Cache))
            }
            Cached::Missing => Some(Err(Absence::KnownMissing)),
            Cached::Nothing => None,
        }
    }

    fn ask_servers(
        &mut self,
        build_id: &str,
        absences: &mut Vec<Absence>,
    ) -> Option<(File, Origin)> {
        let before = absences.len();
        for at in 0..self.settings.servers.len() {
            let server = self.settings.servers[at].clone();
            if self.has_failed[at] {
                absences.push(Absence::NotAskedAgain { server: server.url });
                continue;
            }
            match self.ask(&server, build_id) {
                Ok(file) => return Some((file, Origin::Server(server.url))),
                Err(refusal) => {
                    self.has_failed[at] = refusal.is_of_server();
                    absences.push(self.absence(server.url, refusal));
                }
            }
        }
        let is_absent = |absence: &Absence| {
            matches!(absence, Absence::Refused { refusal: Refusal::Absent, .. })
        };
        if absences.len() > before
            && absences[before..].iter().all(is_absent)
            && let Some(cache) = &self.cache
        {
            // A full cache is no reason for a message.
            let _ = cache.note_missing(build_id);
        }
        None
    }

    fn absence(&self, server: String, refusal: Refusal) -> Absence {
        match refusal {
            Refusal::NoTime if self.is_over.load(Ordering::Relaxed) => Absence::Stopped,
            Refusal::NoTime => Absence::OutOfTime(self.settings.limits.total),
            refusal => Absence::Refused { server, refusal },
        }
    }

    fn ask(&self, server: &Server, build_id: &str) -> Result<File, Refusal> {
        let is_over = || self.is_over.load(Ordering::Relaxed);
        let kept =
            self.cache.as_ref().and_then(|cache| Some((cache, cache.receive(build_id).ok()?)));
        // If nothing can be kept, uses a nameless file in the directory for temporary files.
        let (cache, mut file) = if let Some((cache, file)) = kept {
            (Some(cache), file)
        } else {
            let made = tempfile::tempfile();
            (None, made.map_err(|error| Refusal::NotWritten(error.to_string()))?)
        };
        self.client.fetch(server, build_id, &mut file, &is_over)?;
        if let Some(cache) = cache {
            let _ = cache.keep(build_id, &file);
        }
        Ok(file)
    }
}
