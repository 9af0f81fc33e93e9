//! An endpoint for Prometheus while the run goes: `http://ADDRESS/metrics`.
//!
//! Histograms have classic buckets: native ones need Prometheus' protobuf form, which it asks for
//! only where they are switched on. What was scraped never changes what is measured: a thread of its
//! own answers from totals that are updated once a second.

mod text;
mod totals;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::anyhow;
use hdrhistogram::Histogram;
use rabbitscope_data::run::SecondRow;
use tiny_http::{Header, Method, Request, Response, Server};

use super::Watcher;
use totals::Totals;

/// How soon the end is seen.
const WAIT: Duration = Duration::from_millis(100);

/// Version 0.0.4 of the text form.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The endpoint. It is closed when this is dropped.
#[derive(Debug)]
pub struct Endpoint {
    totals: Arc<Mutex<Totals>>,
    address: SocketAddr,
    has_ended: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Listens on `address`; port 0 is any that is free.
    pub fn open(address: SocketAddr, scenario: &str) -> anyhow::Result<Self> {
        let server = Server::http(address)
            .map_err(|error| anyhow!("cannot listen on {address} for Prometheus: {error}"))?;
        let address = server.server_addr().to_ip().unwrap_or(address);
        let totals = Arc::new(Mutex::new(Totals::new(scenario)));
        let has_ended = Arc::new(AtomicBool::new(false));
        let server = {
            let (totals, has_ended) = (Arc::clone(&totals), Arc::clone(&has_ended));
            thread::spawn(move || serve(&server, &totals, &has_ended))
        };
        Ok(Self { totals, address, has_ended, server: Some(server) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Watcher for Endpoint {
    fn latency(&mut self, name: &str, histogram: &Histogram<u64>) {
        lock(&self.totals).add_latency(name, histogram);
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        lock(&self.totals).add_second(row);
        Ok(())
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn lock(totals: &Mutex<Totals>) -> MutexGuard<'_, Totals> {
    totals.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(server: &Server, totals: &Mutex<Totals>, has_ended: &AtomicBool) {
    while !has_ended.load(Ordering::Relaxed) {
        if let Ok(Some(request)) = server.recv_timeout(WAIT) {
            answer(request, totals);
        }
    }
}

/// A scraper that went away is no matter.
fn answer(request: Request, totals: &Mutex<Totals>) {
    let path = request.url().split('?').next().unwrap_or_default();
    let _ = if path != "/metrics" {
        request.respond(Response::from_string("see /metrics\n").with_status_code(404))
    } else if *request.method() != Method::Get {
        request.respond(Response::from_string("only GET\n").with_status_code(405))
    } else {
        let text = lock(totals).to_string();
        let kind = Header::from_bytes("Content-Type", CONTENT_TYPE);
        let kind = kind.expect("a constant header is well formed");
        request.respond(Response::from_string(text).with_header(kind))
    };
}
