//! The endpoint that Prometheus scrapes.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rabbitscope_http::{Limits, Listener, Request, Response, Server, Status};

use crate::encode::OPEN_METRICS_TYPE;

/// Number of workers. One is enough: answers are prepared in advance.
const WORKERS: usize = 1;

/// The text for scrapes. Its lock is held to replace or take the text, never to encode or send it.
#[derive(Debug)]
pub(super) struct ScrapeText(Mutex<Arc<str>>);

impl Default for ScrapeText {
    fn default() -> Self {
        Self(Mutex::new(Arc::from("# EOF\n")))
    }
}

impl ScrapeText {
    pub(super) fn set(&self, text: String) {
        *self.locked() = Arc::from(text);
    }

    fn get(&self) -> Arc<str> {
        Arc::clone(&self.locked())
    }

    fn locked(&self) -> MutexGuard<'_, Arc<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The endpoint. Dropping it closes all connections.
#[derive(Debug)]
pub(super) struct Endpoint(Server);

impl Endpoint {
    /// Answers the clients that `listener` admits.
    pub(super) fn start(listener: Listener, text: Arc<ScrapeText>) -> io::Result<Self> {
        let limits = Limits { workers: WORKERS, ..Limits::default() };
        let server = Server::start(listener, limits, move |request| answer(request, &text))?;
        Ok(Self(server))
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

fn answer(request: &Request, text: &ScrapeText) -> Response {
    if request.path != "/metrics" {
        return Response::text(Status::NOT_FOUND, "see /metrics");
    }
    Response::found(OPEN_METRICS_TYPE, text.get().as_bytes().to_vec())
}
