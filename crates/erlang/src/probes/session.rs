//! A session with the agent: requests, one after the other.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{Compiled, Connection, Cookie, ErlangError, Loaded, ModuleSource, Reply, Term};

/// Heap limit of each process of the agent: a third above the budget `max_bytes` (48 MiB), at which a request ends by
/// itself.
const MAX_HEAP_BYTES: u64 = 64 << 20;

/// Events that the agent may send before the program has processed the first, so that it need not wait for each.
const CREDIT: u32 = 2_000;

/// Time that a request may take beyond its duration: preparation, clean-up and sending on a saturated node.
const OVERHEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval of checks of the stop flag and of progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The agent on a node. A drop removes it.
#[derive(Debug)]
pub struct ProbeSession<'c> {
    loaded: Loaded<'c>,
}

/// Progress and early end of a request.
pub struct Watch<'a> {
    /// Flag that ends the request early, with the partial result.
    pub stop: &'a AtomicBool,
    /// Called ten times a second with the time since the start.
    pub progress: &'a mut dyn FnMut(Duration),
}

impl<'c> ProbeSession<'c> {
    /// Loads the agent into the node.
    pub fn start(connection: &'c Connection) -> Result<Self, ErlangError> {
        let options = Term::map([("max_heap_bytes", MAX_HEAP_BYTES.into())]);
        Ok(Self {
            loaded: Loaded::agent(connection, ModuleSource::FUNCTIONS, Compiled::Well, options)?,
        })
    }

    /// The module's name on the node.
    pub fn module(&self) -> &str {
        self.loaded.module()
    }

    pub(super) fn cookie(&self) -> Cookie {
        self.loaded.connection().cookie().clone()
    }

    /// Sends a request, passes on its events, and returns its result.
    pub(super) fn ask(
        &mut self,
        name: &str,
        mut arguments: Vec<(&str, Term)>,
        duration: Duration,
        watch: &mut Watch<'_>,
        on_event: &mut dyn FnMut(Term) -> Result<(), ErlangError>,
    ) -> Result<Term, ErlangError> {
        arguments.push(("credit", CREDIT.into()));
        // Names this process to those that it keeps waiting.
        let by = format!("rabbitscope, process {}", std::process::id());
        arguments.push(("by", Term::text(&by)));
        let pairs = arguments.into_iter().map(|(key, value)| (Term::atom(key), value)).collect();
        let began = Instant::now();
        let node = self.loaded.connection().node().to_owned();
        let mut request = self.loaded.request(name, Term::Map(pairs))?;
        let mut cancelled = false;
        loop {
            match request.next(PROGRESS_INTERVAL)? {
                Some(Reply::Done(result)) => return Ok(result),
                Some(Reply::Event(event)) => {
                    on_event(event)?;
                    request.credit(1)?;
                }
                None => (watch.progress)(began.elapsed()),
            }
            if watch.stop.load(Ordering::Relaxed) && !cancelled {
                request.cancel()?;
                cancelled = true;
            }
            if began.elapsed() > duration + OVERHEAD_TIMEOUT {
                let asked = format!("the request {name}");
                return Err(ErlangError::NoAnswer {
                    node,
                    asked,
                    within: duration + OVERHEAD_TIMEOUT,
                });
            }
        }
    }
}
