//! The live page of a run: its start, its end, and the wait for viewers.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use rabbitscope_files::read;
use rabbitscope_http::Listener;
use rabbitscope_runner::{progress::ServedPage, run::Finished};
use rabbitscope_runs::scenario::Scenario;
use rabbitscope_serve::LiveServer;
use rabbitscope_terminal::output;

/// Longest time in which viewers fetch the report.
const LONGEST_LINGER: Duration = Duration::from_secs(5);

/// Size limit of a report.
const MAX_REPORT_BYTES: u64 = 64 << 20;

/// The live page, if the user asks for it.
#[derive(Default)]
pub(super) struct LivePage(Option<Arc<LiveServer>>);

impl LivePage {
    /// Starts to serve the page, and prints its address.
    pub(super) fn start(
        &mut self,
        listener: Listener,
        scenario: &Scenario,
    ) -> anyhow::Result<ServedPage> {
        let page = ServedPage::start(listener, scenario)?;
        let server = page.server();
        output::note(&format!("live page: {}", server.url()));
        self.0 = Some(server);
        Ok(page)
    }

    /// Tells viewers that the run has ended, and gives them its report.
    pub(super) fn end(&self, finished: &anyhow::Result<Finished>) {
        let Some(server) = &self.0 else { return };
        match finished {
            Ok(finished) => {
                let reason = finished.record.verdict.reason();
                let sentence = reason.map_or_else(
                    || "The run is complete.".to_owned(),
                    |reason| format!("The run has ended: {reason}"),
                );
                server.end(&sentence, read(&finished.report, MAX_REPORT_BYTES).ok());
            }
            Err(error) => server.end(&format!("The run failed: {error:#}"), None),
        }
    }

    /// Waits until viewers have the report.
    pub(super) fn linger(&self, stop: &AtomicBool) {
        if let Some(server) = &self.0 {
            server.linger(LONGEST_LINGER, stop);
        }
    }
}
