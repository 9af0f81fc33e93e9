//! The server that answers Prometheus during a run.

use super::super::Watcher;
use super::totals::Totals;
use hdrhistogram::Histogram;
use rabbitscope_http::{Limits, Listener, Request, Response, Server, Status};
use rabbitscope_runs::record::SecondRow;
use rabbitscope_text::metrics::CONTENT_TYPE;
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// One thread suffices, because the answers are made beforehand.
const WORKERS: usize = 1;

/// The endpoint. Dropping it closes all connections.
#[derive(Debug)]
pub struct Endpoint {
    totals: Totals,
    /// The answer for scrapers. It is locked only for a replacement or a clone of the `Arc`, never while it is made
    /// or sent.
    text: Arc<Mutex<Arc<str>>>,
    server: Server,
}

impl Endpoint {
    /// Starts the server for the clients that `listener` admits.
    pub fn start(listener: Listener, scenario: &str) -> anyhow::Result<Self> {
        let totals = Totals::new(scenario);
        let text = Arc::new(Mutex::new(Arc::from(totals.to_string())));
        let told = Arc::clone(&text);
        let limits = Limits { workers: WORKERS, ..Limits::default() };
        let server = Server::start(listener, limits, move |request| answer(request, &told))?;
        Ok(Self { totals, text, server })
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }
}

impl Watcher for Endpoint {
    fn latency(&mut self, name: &str, histogram: &Histogram<u64>) {
        self.totals.add_latency(name, histogram);
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        self.totals.add_second(row);
        let text = Arc::from(self.totals.to_string());
        *lock(&self.text) = text;
        Ok(())
    }
}

fn lock(text: &Mutex<Arc<str>>) -> MutexGuard<'_, Arc<str>> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(request: &Request, told: &Mutex<Arc<str>>) -> Response {
    if request.path != "/metrics" {
        return Response::text(Status::NOT_FOUND, "see /metrics");
    }
    let text = Arc::clone(&lock(told));
    Response::found(CONTENT_TYPE, text.as_bytes().to_vec())
}
