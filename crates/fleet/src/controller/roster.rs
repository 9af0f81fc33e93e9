//! Who is there, since when nobody heard of them, and who gets which part of a run.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::protocol::{Hello, Identity, WorkerState};

/// Who is not heard of for this long lags: its user is told. A hello comes twice a second, so that a death is told
/// within three seconds.
pub(super) const LAG_TIME: Duration = Duration::from_secs(2);

/// Who is not heard of for this long is given up. Chosen: a machine that was suspended or cut off for a few seconds
/// comes back, and what it measured is in the log then.
pub(super) const LOST_TIME: Duration = Duration::from_secs(10);

/// Workers that are kept in mind; others are not heard. Chosen: as many as `--workers` can ask for.
const MAX_KNOWN: usize = 1 << 16;

/// A worker that said hello.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) worker: Identity,
    pub(super) state: WorkerState,
    pub(super) heard: Instant,
}

/// Every worker of the fleet that was heard of.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster(BTreeMap<String, Known>);

impl Roster {
    pub(super) fn heard(&mut self, hello: Hello, now: Instant) {
        let Hello { worker, state } = hello;
        // Whoever invents workers does not fill the memory.
        if self.0.len() >= MAX_KNOWN && !self.0.contains_key(&worker.id) {
            return;
        }
        self.0.insert(worker.id.clone(), Known { worker, state, heard: now });
    }

    /// It sent something else than a hello.
    pub(super) fn heard_of(&mut self, worker: &str, now: Instant) {
        if let Some(known) = self.0.get_mut(worker) {
            known.heard = now;
        }
    }

    /// As if all had been heard of now: it was us who could not hear.
    pub(super) fn excuse(&mut self, now: Instant) {
        self.0.values_mut().for_each(|known| known.heard = now);
    }

    pub(super) fn get(&self, worker: &str) -> Option<&Known> {
        self.0.get(worker)
    }

    /// Those who are there now.
    pub(super) fn present(&self, now: Instant) -> impl Iterator<Item = &Known> {
        self.0.values().filter(move |known| now.saturating_duration_since(known.heard) < LAG_TIME)
    }

    /// The workers for `count` parts, in the order of the parts; absent while there are not enough. Those who ask for a
    /// part get it, of several the one that was heard last.
    pub(super) fn choose(
        &self,
        count: usize,
        version: &str,
        now: Instant,
    ) -> Option<Vec<Identity>> {
        let is_free = |known: &&Known| {
            known.worker.version == version && !matches!(known.state, WorkerState::Running { .. })
        };
        let mut free: Vec<_> = self.present(now).filter(is_free).collect();
        free.sort_by_key(|known| std::cmp::Reverse(known.heard));
        let mut parts: Vec<Option<&Known>> = vec![None; count];
        let mut others = Vec::new();
        for known in free {
            let wanted = known.worker.index.and_then(|index| parts.get_mut(index as usize));
            match wanted {
                Some(part) if part.is_none() => *part = Some(known),
                _ => others.push(known),
            }
        }
        others.sort_by(|one, other| one.worker.id.cmp(&other.worker.id));
        let mut others = others.into_iter();
        let chosen = parts.into_iter().map(|part| part.or_else(|| others.next()));
        chosen.map(|known| Some(known?.worker.clone())).collect()
    }
}

/// How a worker is called in messages.
pub(super) fn described(part: usize, worker: &Identity) -> String {
    format!("worker {part} (pid {} on {})", worker.pid, worker.host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(id: &str, index: Option<u32>, version: &str) -> Hello {
        let worker = Identity {
            id: id.to_owned(),
            index,
            version: version.to_owned(),
            ..Identity::default()
        };
        Hello { worker, state: WorkerState::Idle }
    }

    #[test]
    fn as_many_are_known_as_can_be_asked_for() {
        let (now, mut roster) = (Instant::now(), Roster::default());
        for number in 0..=MAX_KNOWN {
            roster.heard(hello(&number.to_string(), None, "1"), now);
        }
        assert_eq!(roster.present(now).count(), MAX_KNOWN);
        assert!(roster.get("0").is_some() && roster.get(&MAX_KNOWN.to_string()).is_none());
        let later = now + LAG_TIME;
        roster.heard(hello("0", None, "1"), later);
        assert_eq!(roster.present(later).count(), 1, "those who are known are heard");
    }

    #[test]
    fn parts_go_to_those_who_ask_and_then_to_the_others() {
        let now = Instant::now();
        let mut roster = Roster::default();
        let ids = |roster: &Roster, count, at| {
            let chosen = roster.choose(count, "1", at)?;
            Some(chosen.into_iter().map(|it| it.id).collect::<Vec<_>>().join(" "))
        };
        roster.heard(hello("b", None, "1"), now);
        roster.heard(hello("c", Some(0), "1"), now);
        roster.heard(hello("old", None, "0"), now);
        assert_eq!(ids(&roster, 3, now), None, "one has another version");
        roster.heard(hello("a", Some(7), "1"), now);
        assert_eq!(ids(&roster, 3, now).as_deref(), Some("c a b"));
        let later = now + Duration::from_secs(1);
        roster.heard(hello("d", Some(0), "1"), later);
        assert_eq!(ids(&roster, 2, later).as_deref(), Some("d a"), "a pod that was started again");
        assert_eq!(ids(&roster, 1, now + Duration::from_secs(4)), None, "all are gone");
        roster.excuse(now + Duration::from_secs(4));
        assert_eq!(ids(&roster, 1, now + Duration::from_secs(4)).as_deref(), Some("c"));
    }
}
