//! The state of the page, and the ticks that it makes of reports.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rabbitscope_diagnosis::Source;
use rabbitscope_text::clock_utc;
use rabbitscope_web::{NodeSecond, NodeState, Tick};

use super::{
    pace::{LOOK, PAUSE, SECOND},
    report::{Answer, Look, Origin, now},
};

/// Age up to which figures of the node count as those of the current second.
const FRESH: Duration = SECOND.saturating_mul(3);

/// The latest reports.
pub(super) struct Page {
    began: Instant,
    answer: Option<Answer>,
    obstacles: BTreeMap<Origin, String>,
    look: Option<Look>,
    /// True if the page has changed beyond the figures of a second.
    is_changed: bool,
}

impl Page {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            answer: None,
            obstacles: BTreeMap::new(),
            look: None,
            is_changed: true,
        }
    }

    pub(super) fn answered(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }

    pub(super) fn looked(&mut self, look: Look) {
        self.look = Some(look);
        self.is_changed = true;
    }

    /// Notes an obstacle, or that it has passed.
    pub(super) fn met(&mut self, origin: Origin, obstacle: Option<String>) {
        self.is_changed |= self.obstacles.get(&origin) != obstacle.as_ref();
        match obstacle {
            Some(text) => drop(self.obstacles.insert(origin, text)),
            None => drop(self.obstacles.remove(&origin)),
        }
    }

    /// Forgets the obstacles and figures of a process that has ended. Its latest look stays, with its time.
    pub(super) fn begin_again(&mut self) {
        self.obstacles.clear();
        self.answer = None;
        self.is_changed = true;
    }

    /// Puts everything into the next tick, for viewers who have come now.
    pub(super) fn repeat(&mut self) {
        self.is_changed = true;
    }

    /// Returns the tick of a second. `outside` has what `/proc` shows.
    pub(super) fn tick(&mut self, outside: NodeSecond) -> Tick {
        let mut tick = Tick::new(nanos(now()));
        let answer = self.answer.as_ref().filter(|answer| answer.at.elapsed() < FRESH);
        let second = NodeSecond { at_nanos: nanos(self.began.elapsed()), ..outside };
        let second = match answer {
            None => second,
            Some(answer) => NodeSecond {
                figures: answer.figures.clone(),
                rates: answer.rates,
                memory_limit_bytes: answer.memory_limit_bytes,
                ..second
            },
        };
        second.write(&mut tick);
        self.write_changes(&mut tick);
        tick
    }

    /// Returns a tick without figures.
    pub(super) fn tick_of_state(&mut self) -> Tick {
        let mut tick = Tick::new(nanos(now()));
        self.write_changes(&mut tick);
        tick
    }

    fn write_changes(&mut self, tick: &mut Tick) {
        if std::mem::take(&mut self.is_changed) {
            self.state().write(tick);
            if let Some(look) = &self.look {
                look.result.write(tick);
            }
        }
    }

    fn state(&self) -> NodeState {
        let looks = self.look.as_ref().map_or_else(String::new, |look| {
            let next = look.to + PAUSE + LOOK;
            let next = if next > now() {
                format!("come at about {}", clock_utc(next))
            } else {
                "are on their way".to_owned()
            };
            let [from, to] = [look.from, look.to].map(clock_utc);
            format!(
                "Limit, flow control and tables are of {from} to {to} UTC; the next ones {next}."
            )
        });
        let is_said = self.look.as_ref().is_some_and(|look| look.result.lacks(Source::CpuProfile));
        let obstacles = self.obstacles.iter().filter(|(origin, _)| {
            // The look says the same about samples.
            **origin != Origin::Recording || !is_said
        });
        NodeState { looks, obstacles: obstacles.map(|(_, text)| text.clone()).collect() }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
