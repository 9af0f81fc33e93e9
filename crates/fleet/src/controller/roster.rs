//! The known workers, when each was last heard, and the choice of workers for the parts of a run.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::protocol::{Hello, Identity, WorkerState};

/// Silence after which a worker lags, which is reported to the user. Hellos come twice a second, so a death is
/// reported within three seconds.
pub(super) const LAG_TIME: Duration = Duration::from_secs(2);

/// Silence after which a worker counts as lost. Chosen: a machine that is suspended or cut off for a few seconds
/// comes back, and the log then has its measurements.
pub(super) const LOST_TIME: Duration = Duration::from_secs(10);

/// Limit of known workers; further ones are ignored. Chosen: the maximum of `--workers`.
const MAX_KNOWN: usize = 1 << 16;

/// A worker that sent a hello.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) worker: Identity,
    pub(super) state: WorkerState,
    pub(super) heard: Instant,
}

/// Every known worker of the fleet.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster(BTreeMap<String, Known>);

impl Roster {
    pub(super) fn heard(&mut self, hello: Hello, now: Instant) {
        let Hello { worker, state } = hello;
        // Invented workers must not fill the memory.
        if self.0.len() >= MAX_KNOWN && !self.0.contains_key(&worker.id) {
            return;
        }
        self.0.insert(worker.id.clone(), Known { worker, state, heard: now });
    }

    /// Notes that the worker sent something other than a hello.
    pub(super) fn heard_of(&mut self, worker: &str, now: Instant) {
        if let Some(known) = self.0.get_mut(worker) {
            known.heard = now;
        }
    }

    /// Resets the silence of all workers after a time in which this process could not listen.
    pub(super) fn excuse(&mut self, now: Instant) {
        self.0.values_mut().for_each(|known| known.heard = now);
    }

    pub(super) fn get(&self, worker: &str) -> Option<&Known> {
        self.0.get(worker)
    }

    /// Returns the workers that were heard within [`LAG_TIME`].
    pub(super) fn present(&self, now: Instant) -> impl Iterator<Item = &Known> {
        self.0.values().filter(move |known| now.saturating_duration_since(known.heard) < LAG_TIME)
    }

    /// Chooses workers for `count` parts, in the order of the parts; none while there are too few. A worker that asks
    /// for a part gets it. If several ask for the same part, the one that was heard last gets it.
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

/// The name of a worker in messages.
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
            let ids: Vec<_> = chosen.into_iter().map(|worker| worker.id).collect();
            Some(ids.join(" "))
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
