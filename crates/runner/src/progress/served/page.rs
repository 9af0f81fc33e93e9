//! The watcher of the live page.

use std::sync::Arc;

use rabbitscope_http::Listener;
use rabbitscope_runs::{
    record::{BrokerStates, SecondRow},
    scenario::Scenario,
};
use rabbitscope_serve::LiveServer;
use rabbitscope_web::{LiveRun, Tick};

use super::{clock::now, judge::Judge, so_far::SoFar};
use crate::{
    progress::{Watcher, WindowSink},
    run::record_before,
};

/// Seconds between two judgements, which cost some milliseconds each.
const JUDGED_EVERY: u32 = 5;

/// Least number of seconds under load by which a run is judged.
const LEAST_JUDGED: usize = 5;

/// The live page of a run. The server outlives this value, for the end.
pub struct ServedPage {
    server: Arc<LiveServer>,
    live: LiveRun,
    so_far: SoFar,
    judge: Judge,
    states: Option<Arc<BrokerStates>>,
    has_profile: bool,
    is_draining: bool,
}

impl ServedPage {
    /// Starts to serve the page of a run that has not begun.
    pub fn start(listener: Listener, scenario: &Scenario) -> anyhow::Result<Self> {
        let record = record_before(scenario)?;
        let has_profile = scenario.profile.is_some();
        let (page, head) =
            (LiveRun::page(&record, has_profile), LiveRun::head(&record, has_profile));
        let server = Arc::new(LiveServer::start(listener, &page, &head)?);
        Ok(Self {
            judge: Judge::start(Arc::clone(&server))?,
            server,
            live: LiveRun::default(),
            so_far: SoFar::new(record),
            states: None,
            has_profile,
            is_draining: false,
        })
    }

    /// Returns the server.
    pub fn server(&self) -> Arc<LiveServer> {
        Arc::clone(&self.server)
    }

    fn send(&self, change: impl FnOnce(&mut Tick)) {
        let mut tick = Tick::new(now());
        change(&mut tick);
        self.server.tick(tick);
    }
}

impl Watcher for ServedPage {
    fn broker(&mut self, states: &BrokerStates) {
        self.live.set_broker(&states.facts);
        self.so_far.record.broker = states.facts.clone();
        // The settings before the run are those during it.
        let after = states.before.clone();
        self.states = Some(Arc::new(BrokerStates { after, ..states.clone() }));
    }

    fn connecting(&mut self, done: usize, of: usize) {
        let text = format!("connecting: {done} of {of} connections");
        self.send(|tick| self.live.state(tick, &text));
    }

    fn started(&mut self) {
        self.send(|tick| self.live.state(tick, "under load"));
    }

    fn notice(&mut self, text: &str) {
        let mut tick = Tick::new(now());
        self.live.notice(&mut tick, text);
        self.server.tick(tick);
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        self.so_far.add(row);
        let mut tick = Tick::new(now());
        self.live.second(&mut tick, &self.so_far.record, &self.so_far.rows);
        if row.draining && !self.is_draining {
            self.is_draining = true;
            self.live.state(&mut tick, "the load has ended, and outstanding messages are awaited");
        }
        self.server.tick(tick);
        if row.second % JUDGED_EVERY == JUDGED_EVERY - 1 && !row.draining && !row.warming {
            let recent = self.so_far.recent();
            if recent.seconds >= LEAST_JUDGED {
                self.judge.ask(recent, self.states.clone());
            }
        }
        Ok(())
    }

    fn windows(&self) -> Option<WindowSink> {
        let server = Arc::clone(&self.server);
        self.has_profile.then(|| -> WindowSink { Arc::new(move |window| server.window(window)) })
    }
}
