//! Loads the code of the arm whose turn begins.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;
use rabbitscope_runs::record::SecondRow;

use super::turns::Turn;
use crate::watch::Watcher;

/// What is left out of a turn, less a margin for the seconds of the run, which are not quite those of a clock.
const TIME_TO_LOAD: Duration = Duration::from_millis(900);

/// Says when turns begin. It is told of each second when that is over.
pub(super) struct TurnWatch {
    turns: Vec<Turn>,
    begun: Sender<(usize, Instant)>,
}

impl TurnWatch {
    pub(super) fn new(turns: &[Turn]) -> (Self, Receiver<(usize, Instant)>) {
        let (begun, turn) = channel();
        (Self { turns: turns.to_vec(), begun }, turn)
    }
}

impl Watcher for TurnWatch {
    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        let next = row.second + 1;
        if let Some(turn) = self.turns.iter().position(|turn| turn.begins == next) {
            // Nobody listens when the run is being ended.
            let _ = self.begun.send((turn, Instant::now()));
        }
        Ok(())
    }
}

/// Switches until nobody says any more that a turn begins. Returns what was wrong with each turn, nothing for most.
pub(super) fn switch(
    broker: &Broker,
    turns: &[Turn],
    begun: Receiver<(usize, Instant)>,
) -> Vec<Option<String>> {
    let mut wrong: Vec<Option<String>> =
        turns.iter().map(|_| Some("the run ended before its turn".to_owned())).collect();
    for (turn, started) in begun {
        let switched = broker.switch_code(turns[turn].arm);
        // A turn before this one that took long is part of it.
        let took = started.elapsed();
        wrong[turn] = match switched {
            Err(error) => Some(error.to_string()),
            Ok(()) if took > TIME_TO_LOAD => Some(format!(
                "its code was loaded {:.1} s after the turn began",
                took.as_secs_f64()
            )),
            Ok(()) => None,
        };
    }
    wrong
}
