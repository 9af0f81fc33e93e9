//! Roles and names of processes for endless recordings: known identities are kept, and the node is only asked about new
//! processes.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::{Duration, Instant},
};

use rabbitscope_erlang::{Connection, ErlangError, Loaded, ModuleSource, Term};
use rabbitscope_profiles::{GONE, Identities, Identity, Profile};

use super::identities::{
    asked_about, ended_processes, first_functions, pids_of, rows_of, texts_of,
};
use crate::reading_budget::ReadingBudget;

/// Timeout of a request, for which a window waits.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// Windows after which an unseen process is forgotten: an hour of windows of 10 s.
const KEPT_WINDOWS: u64 = 360;

/// Maximum number of known processes. A node with more has clients that connect for each message.
const MAX_KNOWN: usize = 50_000;

/// Known processes of one node. A pid practically belongs to one process while the node runs: the VM reuses it only
/// after some hundred million others.
#[derive(Debug, Default)]
pub struct KnownIdentities {
    known: HashMap<String, Known>,
    window: u64,
    budget: ReadingBudget,
}

#[derive(Debug)]
struct Known {
    identity: Identity,
    last_window: u64,
}

/// The module on the node that answers the requests.
#[derive(Debug)]
pub struct IdentityModule<'a>(Loaded<'a>);

impl<'a> IdentityModule<'a> {
    /// Loads the module. It is removed when this value is dropped, or the connection is lost.
    pub fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        Ok(Self(Loaded::functions(connection, ModuleSource::OWNERS)?))
    }

    fn read(&self, function: &str, arguments: Term) -> Result<Identities, ErlangError> {
        let (connection, module) = (self.0.connection(), self.0.module());
        rows_of(connection, module, function, vec![arguments], READ_TIMEOUT)
    }
}

impl KnownIdentities {
    /// Adds the identities of their processes to the profiles of one window. Asks the node about new processes within
    /// the budget. `module` is `None` if the node cannot be asked.
    pub fn resolve(
        &mut self,
        module: Option<&IdentityModule<'_>>,
        profiles: &mut [Profile],
    ) -> Result<(), ErlangError> {
        self.window += 1;
        let asked = module.map_or(Ok(()), |module| self.ask(module, profiles));
        for profile in profiles {
            self.fill(profile);
        }
        self.forget();
        asked
    }

    fn ask(
        &mut self,
        module: &IdentityModule<'_>,
        profiles: &[Profile],
    ) -> Result<(), ErlangError> {
        let mut unknown: Vec<String> = profiles.iter().flat_map(pids_of).collect();
        unknown.retain(|pid| !self.known.contains_key(pid));
        unknown.sort_unstable();
        unknown.dedup();
        let began = Instant::now();
        if unknown.is_empty() || !self.budget.allows(began) {
            return Ok(());
        }
        let asked = self.ask_about(module, &unknown, profiles);
        self.budget.charge(Instant::now(), began.elapsed());
        asked
    }

    fn ask_about(
        &mut self,
        module: &IdentityModule<'_>,
        unknown: &[String],
        profiles: &[Profile],
    ) -> Result<(), ErlangError> {
        let mut gone = HashSet::new();
        for pids in asked_about(unknown) {
            for (pid, identity) in module.read("processes", texts_of(pids))? {
                if identity.role == GONE {
                    gone.insert(pid);
                } else {
                    self.learn(pid, identity);
                }
            }
        }
        let is_gone = |pid: &str| gone.contains(pid);
        let mut functions = BTreeMap::new();
        for profile in profiles {
            first_functions(profile, is_gone, &mut functions);
        }
        let ended = ended_processes(functions);
        if !ended.is_empty() {
            for (pid, identity) in module.read("ended", Term::list(ended))? {
                self.learn(pid, identity);
            }
        }
        Ok(())
    }

    fn learn(&mut self, pid: String, identity: Identity) {
        self.known.insert(pid, Known { identity, last_window: self.window });
    }

    fn fill(&mut self, profile: &mut Profile) {
        let pids: Vec<String> = pids_of(profile).collect();
        for pid in pids {
            if let Some(known) = self.known.get_mut(&pid) {
                known.last_window = self.window;
                profile.identities.insert(pid, known.identity.clone());
            }
        }
    }

    fn forget(&mut self) {
        let since = self.window.saturating_sub(KEPT_WINDOWS);
        self.known.retain(|_, known| known.last_window >= since);
        if self.known.len() > MAX_KNOWN {
            // Processes of this window are requested again when they are needed.
            self.known.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;

    fn profile(pid: &str) -> Profile {
        let mut profile = read_folded(b"scheduler;m:f/0 5\n".as_slice()).unwrap();
        profile.samples[0].labels.process = Some(pid.into());
        profile
    }

    #[test]
    fn what_is_known_is_kept_while_it_is_seen() {
        let mut known = KnownIdentities::default();
        let identity = Identity { role: "queue".to_owned(), ..Identity::default() };
        known.learn("<0.1.0>".to_owned(), identity.clone());
        let mut seen = |pid: &str| {
            let mut profiles = [profile(pid)];
            known.resolve(None, &mut profiles).unwrap();
            profiles[0].identities.get(pid).cloned()
        };
        for _ in 0..2 * KEPT_WINDOWS {
            assert_eq!(seen("<0.1.0>"), Some(identity.clone()));
        }
        assert_eq!(seen("<0.2.0>"), None);
        for _ in 0..=KEPT_WINDOWS {
            seen("<0.2.0>");
        }
        assert_eq!(seen("<0.1.0>"), None, "it was in no window for an hour");
    }
}
