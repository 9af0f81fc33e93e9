//! The switch of code at the start of each arm's turn.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;
use rabbitscope_runner::progress::Watcher;
use rabbitscope_runs::record::SecondRow;

use super::turns::Turn;

/// Time of a turn that does not count, minus a margin: the seconds of the run differ slightly from those of a clock.
const TIME_TO_LOAD: Duration = Duration::from_millis(900);

/// Announces the starts of turns. A watcher learns of each second at its end.
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
            // The receiver is gone while the run is ending.
            let _ = self.begun.send((turn, Instant::now()));
        }
        Ok(())
    }
}

/// Switches code until the channel of starts closes. Returns the problem of each turn, if there was one.
pub(super) fn switch(
    broker: &Broker,
    turns: &[Turn],
    begun: Receiver<(usize, Instant)>,
) -> Vec<Option<String>> {
    let mut wrong: Vec<Option<String>> =
        turns.iter().map(|_| Some("the run ended before its turn".to_owned())).collect();
    for (turn, started) in begun {
        let switched = broker.switch_code(turns[turn].arm);
        // This time includes the wait for an earlier switch that took long.
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
