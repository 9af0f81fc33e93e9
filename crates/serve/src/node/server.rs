//! The order of a live page: viewers come and go, the node ends and returns, until the user ends the program.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::RecvTimeoutError,
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use rabbitscope_check::CheckOptions;
use rabbitscope_erlang::{Connection, ErlangError};
use rabbitscope_http::Listener;
use rabbitscope_text::clock_utc;
use rabbitscope_web::{LivePage, NodeHead};

use super::{
    life::{FindNode, Life, State},
    observation::Observation,
    outside::Outside,
    pace::{LOOK, PAUSE, SECOND, STEP, UNWATCHED},
    page::Page,
    report::{Origin, Report, now},
};
use crate::live::LiveServer;

/// Time in which viewers receive the last event.
const LAST_EVENT: Duration = Duration::from_secs(1);

/// Serves the live page of a node until `stop` is set, or until the node has ended and does not return. `may_return` is
/// false for a node that was named by its process. `announce` receives the address, which is secret.
pub fn serve_node(
    (find, may_return): (FindNode<'_>, bool),
    listener: Listener,
    stop: &AtomicBool,
    announce: impl FnOnce(&str),
) -> anyhow::Result<()> {
    let life = Life::find(find, may_return)?;
    require_answer(&life.subject)?;
    let (title, head) = (life.subject.node.clone(), head(&life.subject));
    let page = LivePage { title, profile: head.has_profile };
    let server = LiveServer::start(listener, &page, &head.live_head())?;
    announce(server.url());
    let mut observed = Observed {
        server,
        life,
        page: Page::new(),
        observation: None,
        seen: None,
        next_tick: Instant::now() + SECOND,
    };
    let sentence = observed.run(stop)?;
    observed.server.end(&sentence, None);
    observed.server.linger(LAST_EVENT, &AtomicBool::new(false));
    Ok(())
}

/// Fails if a node without a process on this machine does not answer.
fn require_answer(subject: &CheckOptions) -> Result<(), ErlangError> {
    match (&subject.pid, &subject.connect) {
        (None, Ok(connect)) => Connection::open(connect).map(drop),
        _ => Ok(()),
    }
}

fn head(subject: &CheckOptions) -> NodeHead {
    let (look, pause) = (LOOK.as_secs(), PAUSE.as_secs());
    let pid = subject.pid.map(|pid| format!("process {pid}"));
    let constant = [
        "read only".to_owned(),
        format!("a look at limit and tables takes {look} s, then it pauses for {pause} s"),
        "nothing is observed while nobody views this page".to_owned(),
    ];
    NodeHead {
        node: subject.node.clone(),
        facts: pid.into_iter().chain(constant).collect(),
        has_profile: subject.pid.is_some(),
    }
}

/// A node and its page.
struct Observed<'a> {
    server: LiveServer,
    life: Life<'a>,
    page: Page,
    /// Absent without viewers, and while the node is away.
    observation: Option<Observation>,
    /// Time at which a viewer was last connected.
    seen: Option<Instant>,
    next_tick: Instant,
}

impl Observed<'_> {
    /// Returns the sentence of the end.
    fn run(&mut self, stop: &AtomicBool) -> anyhow::Result<String> {
        while !stop.load(Ordering::Relaxed) {
            self.take_reports();
            if Instant::now() < self.next_tick {
                continue;
            }
            self.next_tick = (self.next_tick + SECOND).max(Instant::now());
            if let Some(end) = self.follow_node() {
                return Ok(end);
            }
            self.follow_viewers()?;
            self.tick();
        }
        Ok(format!("rabbitscope was ended at {} UTC.", clock_utc(now())))
    }

    /// Takes reports until the next tick, or for a step.
    fn take_reports(&mut self) {
        let until = self.next_tick.min(Instant::now() + STEP);
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            let Some(observation) = &self.observation else { return thread::sleep(wait) };
            match observation.reports.recv_timeout(wait) {
                Ok(report) => self.take(report),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => return thread::sleep(wait),
            }
        }
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Window(profile) => self.server.window(*profile),
            Report::Answer(answer) => self.page.answered(*answer),
            Report::Look(look) => self.page.looked(*look),
            Report::Obstacle(origin, obstacle) => self.page.met(origin, obstacle),
        }
    }

    /// Looks for the node's process. Returns the sentence of the end if it does not return.
    fn follow_node(&mut self) -> Option<String> {
        let node = self.life.subject.node.clone();
        match self.life.look() {
            State::Running | State::Away => {}
            State::Ended => {
                self.observation = None;
                self.page.begin_again();
                let since = clock_utc(now());
                let text =
                    format!("{node} ended at {since} UTC; this page goes on when it is back");
                self.page.met(Origin::Process, Some(text));
                self.server.tick(self.page.tick_of_state());
            }
            State::Returned => {
                self.page.begin_again();
                let pid = self.life.subject.pid.unwrap_or_default();
                let text =
                    format!("{node} is back since {} UTC, as process {pid}", clock_utc(now()));
                self.page.met(Origin::Process, Some(text));
                self.server.tick(self.page.tick_of_state());
            }
            State::Gone => return Some(format!("{node} has ended.")),
        }
        None
    }

    /// Begins the observation with the first viewer, and ends it some time after the last one has gone.
    fn follow_viewers(&mut self) -> anyhow::Result<()> {
        let is_viewed = self.server.viewers() > 0;
        if is_viewed {
            self.seen = Some(Instant::now());
        }
        let is_wanted = self.seen.is_some_and(|seen| seen.elapsed() < UNWATCHED);
        match (&self.observation, is_wanted && !self.life.is_away()) {
            (None, true) => {
                let started = Observation::start(&self.life.subject);
                self.observation = Some(started.context("cannot start a thread")?);
                self.page.repeat();
            }
            (Some(_), false) => self.observation = None,
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self) {
        let Some(observation) = &mut self.observation else { return };
        let outside = observation.outside.as_mut().map(Outside::lap);
        self.server.tick(self.page.tick(outside.unwrap_or_default()));
    }
}
