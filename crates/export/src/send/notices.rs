//! Notices for the user, without repetition.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Limit of notices that wait to be fetched.
const MAX_WAITING: usize = 100;

/// Shortest time between two equal notices.
const REPEAT_INTERVAL: Duration = Duration::from_secs(600);

/// Notices of all exporters.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    waiting: Mutex<VecDeque<String>>,
}

impl Notices {
    pub(crate) fn take(&self) -> Vec<String> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }

    fn push(&self, text: String) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_WAITING {
            waiting.push_back(text);
        }
    }
}

/// The recent notices of one exporter.
#[derive(Debug, Default)]
pub(super) struct Said {
    last: HashMap<&'static str, Instant>,
    is_away: bool,
}

impl Said {
    /// Adds a notice, unless the same one was given recently: a backend that comes and goes every few seconds is no
    /// news.
    fn say(&mut self, notices: &Notices, about: &'static str, now: Instant, text: String) -> bool {
        let is_news = self.last.get(about).is_none_or(|last| now - *last >= REPEAT_INTERVAL);
        if is_news {
            self.last.insert(about, now);
            notices.push(text);
        }
        is_news
    }

    pub(super) fn failure(
        &mut self,
        notices: &Notices,
        now: Instant,
        reason: &'static str,
        text: String,
    ) {
        self.is_away |= self.say(notices, reason, now, text);
    }

    pub(super) fn success(&mut self, notices: &Notices, now: Instant, text: String) {
        if std::mem::take(&mut self.is_away) {
            self.say(notices, "back", now, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_once() {
        let (notices, mut said) = (Notices::default(), Said::default());
        let start = Instant::now();
        for _ in 0..1000 {
            said.failure(&notices, start, "timeout", "slow".to_owned());
            said.failure(&notices, start, "refused", "no".to_owned());
            said.success(&notices, start, "back".to_owned());
        }
        assert_eq!(notices.take(), ["slow", "no", "back"]);
        said.failure(&notices, start + REPEAT_INTERVAL, "timeout", "slow".to_owned());
        assert_eq!(notices.take(), ["slow"]);
    }
}
