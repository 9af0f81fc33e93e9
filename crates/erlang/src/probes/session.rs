//! The agent on the node, and one request after the other.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{Compiled, Connection, Cookie, ErlangError, Loaded, ModuleSource, Reply, Term};

/// Heap of each process of ours on the node.
const MAX_HEAP_BYTES: u64 = 64 << 20;

/// Events that the agent may be ahead of us.
const CREDIT: u32 = 2_000;

/// What a request may take beyond its own time: preparing, cleaning up, sending.
const GRACE: Duration = Duration::from_secs(60);

/// How often a person's wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The agent on a node; gone from there when this is dropped.
#[derive(Debug)]
pub struct ProbeSession<'c> {
    loaded: Loaded<'c>,
}

/// How a request is accompanied.
pub struct Watch<'a> {
    /// Set to end early, with what there is.
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

    /// One request: its events as they come, and its result.
    pub(super) fn ask(
        &mut self,
        name: &str,
        mut arguments: Vec<(&str, Term)>,
        duration: Duration,
        watch: &mut Watch<'_>,
        on_event: &mut dyn FnMut(Term) -> Result<(), ErlangError>,
    ) -> Result<Term, ErlangError> {
        arguments.push(("credit", CREDIT.into()));
        // For those whom this one keeps waiting.
        let by = format!("rabbitscope, process {}", std::process::id());
        arguments.push(("by", Term::text(&by)));
        let pairs = arguments.into_iter().map(|(key, value)| (Term::atom(key), value)).collect();
        let began = Instant::now();
        let node = self.loaded.connection().node().to_owned();
        let mut request = self.loaded.request(name, Term::Map(pairs))?;
        let mut cancelled = false;
        loop {
            match request.next(LOOK)? {
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
            if began.elapsed() > duration + GRACE {
                let asked = format!("the request {name}");
                return Err(ErlangError::NoAnswer { node, asked, within: duration + GRACE });
            }
        }
    }
}
