//! Roles and names of the processes in a recording, read from the node.
//!
//! The broker's tables are read before the recording. This disturbs no process and includes processes that end
//! meanwhile. The recorded processes are read after the recording. The role of a process that has ended by then follows
//! from the function at the root of its stacks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError, Loaded, ModuleSource, Term};
use rabbitscope_profiles::{FrameKind, GONE, Identities, Identity, Profile, StackOutcome};

/// Timeout of a request to a busy node with many thousand processes.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of processes in one request, so that a message has less than 100 KiB.
const PROCESSES_PER_REQUEST: usize = 5_000;

/// A connection to the node with the identities from before the recording, or the reason for their absence.
#[derive(Debug)]
pub struct IdentityResolver {
    connected: Result<(Connection, Identities), String>,
}

impl IdentityResolver {
    /// Connects and reads the tables. A failure becomes a note in the profiles.
    pub fn start(options: Result<ConnectOptions, impl fmt::Display>) -> Self {
        let connected = options
            .map_err(|error| error.to_string())
            .and_then(|options| connect(&options).map_err(|error| error.to_string()));
        Self { connected }
    }

    /// Adds the identities of their processes to the profiles, and notes about failures.
    pub fn resolve(self, profiles: &mut [Profile]) {
        match self.connected {
            Ok((connection, known)) => resolve(&connection, known, profiles),
            Err(reason) => note(profiles, &reason),
        }
    }
}

fn connect(options: &ConnectOptions) -> Result<(Connection, Identities), ErlangError> {
    let connection = Connection::open(options)?;
    let known = read(&connection, "tables", &[vec![]])?;
    Ok((connection, known))
}

fn resolve(connection: &Connection, mut known: Identities, profiles: &mut [Profile]) {
    let seen: BTreeSet<String> = profiles.iter().flat_map(pids_of).collect();
    let seen: Vec<String> = seen.into_iter().collect();
    let asked: Vec<Vec<Term>> = asked_about(&seen).map(|pids| vec![texts_of(pids)]).collect();
    match read(connection, "processes", &asked) {
        Ok(answers) => {
            for (pid, identity) in answers {
                if identity.role == GONE {
                    known.entry(pid).or_insert(identity);
                } else {
                    known.insert(pid, identity);
                }
            }
        }
        Err(error) => note(profiles, &error.to_string()),
    }
    match ended(connection, &known, profiles) {
        Ok(answers) => known.extend(answers),
        Err(error) => note(profiles, &error.to_string()),
    }
    for profile in profiles {
        let of_profile = pids_of(profile).filter_map(|pid| Some((known.get(&pid)?.clone(), pid)));
        profile.identities = of_profile.map(|(identity, pid)| (pid, identity)).collect();
    }
}

/// Splits pids into groups for requests, some thousand at a time.
pub(super) fn asked_about(pids: &[String]) -> impl Iterator<Item = &[String]> {
    pids.chunks(PROCESSES_PER_REQUEST)
}

pub(super) fn texts_of(pids: &[String]) -> Term {
    Term::list(pids.iter().map(|pid| Term::text(pid)).collect::<Vec<_>>())
}

pub(super) fn pids_of(profile: &Profile) -> impl Iterator<Item = String> {
    profile.samples.iter().filter_map(|sample| sample.labels.process.as_deref()).map(str::to_owned)
}

/// Returns identities of those `known` processes that have ended, by the function at the root of their stacks.
fn ended(
    connection: &Connection,
    known: &Identities,
    profiles: &[Profile],
) -> Result<Identities, ErlangError> {
    let is_gone = |pid: &str| known.get(pid).is_some_and(|identity| identity.role == GONE);
    let mut started_with = BTreeMap::new();
    for profile in profiles {
        first_functions(profile, is_gone, &mut started_with);
    }
    let processes = ended_processes(started_with);
    let asked: Vec<Vec<Term>> = processes
        .chunks(PROCESSES_PER_REQUEST)
        .map(|some| vec![Term::list(some.to_vec())])
        .collect();
    if asked.is_empty() {
        return Ok(Identities::new());
    }
    read(connection, "ended", &asked)
}

/// Returns ended processes in the form of a request: pid, module and function.
pub(super) fn ended_processes(started_with: BTreeMap<&str, &str>) -> Vec<Term> {
    let process = |(pid, function): (&str, &str)| {
        let (module, _) = function.split_once(':')?;
        Some(Term::tuple([pid, module, function].map(Term::text)))
    };
    started_with.into_iter().filter_map(process).collect()
}

/// Adds the outermost function per pid outside `proc_lib`, which starts most processes.
pub(super) fn first_functions<'a>(
    profile: &'a Profile,
    is_wanted: impl Fn(&str) -> bool,
    found: &mut BTreeMap<&'a str, &'a str>,
) {
    let complete = |outcome| outcome == StackOutcome::Complete;
    for sample in profile.samples.iter().filter(|sample| complete(sample.labels.outcome)) {
        let Some(pid) = sample.labels.process.as_deref() else { continue };
        if found.contains_key(pid) || !is_wanted(pid) {
            continue;
        }
        let frames = sample.stack.iter().map(|entry| profile.frames.get(entry.frame));
        let mut functions = frames.filter(|frame| frame.kind == FrameKind::Erlang);
        if let Some(first) = functions.find(|frame| !frame.name.starts_with("proc_lib:")) {
            found.insert(pid, &first.name);
        }
    }
}

fn note(profiles: &mut [Profile], reason: &str) {
    for profile in profiles {
        profile.capture.notes.push(format!(
            "processes have only pids, or their roles and names at the start: {reason}"
        ));
    }
}

/// Loads the module, calls the function with each of these arguments, and removes the module.
fn read(
    connection: &Connection,
    function: &str,
    calls: &[Vec<Term>],
) -> Result<Identities, ErlangError> {
    let module = Loaded::functions(connection, ModuleSource::OWNERS)?;
    let mut found = Identities::new();
    for arguments in calls {
        let name = module.module();
        found.extend(rows_of(connection, name, function, arguments.clone(), READ_TIMEOUT)?);
    }
    module.end()?;
    Ok(found)
}

/// Calls a function of the module that sends rows.
pub(super) fn rows_of(
    connection: &Connection,
    module: &str,
    function: &str,
    arguments: Vec<Term>,
    within: Duration,
) -> Result<Identities, ErlangError> {
    let mut found = Identities::new();
    connection.call_in_parts(module, function, arguments, within, &mut |part| {
        add_rows(&part, &mut found).ok_or_else(|| ErlangError::unexpected("processes", &part))
    })?;
    Ok(found)
}

fn add_rows(part: &Term, found: &mut Identities) -> Option<()> {
    for row in part.as_tagged("rows")?.first()?.as_list()? {
        let [pid, role, name, vhost, connection, client] = row.as_tuple()? else { return None };
        let identity = Identity {
            role: role.as_atom()?.to_owned(),
            name: name.to_text()?,
            vhost: vhost.to_text()?,
            connection: connection.to_text()?,
            client: client.to_text()?,
        };
        found.insert(pid.to_text()?, identity);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;

    #[test]
    fn the_root_of_a_stack_tells_what_a_process_was_started_with() {
        let text = "scheduler;proc_lib:init_p_do_apply/3;http:request/2;lists:map/2 5\n\
                    scheduler;http:other/1 3\nscheduler;proc_lib:wake_up/3 1\nscheduler;m:f/0 1";
        let mut profile = read_folded(text.as_bytes()).unwrap();
        let pids = ["<0.1.0>", "<0.2.0>", "<0.3.0>", "<0.4.0>"];
        for (sample, pid) in profile.samples.iter_mut().zip(pids) {
            sample.labels.process = Some(pid.into());
            sample.labels.outcome = StackOutcome::Complete;
        }
        profile.samples[1].labels.outcome = StackOutcome::Broken;
        let mut found = BTreeMap::new();
        first_functions(&profile, |pid| pid != "<0.4.0>", &mut found);
        let of = |frames: &str| {
            let sample = text.lines().position(|line| line.contains(frames)).unwrap();
            pids[sample]
        };
        assert_eq!(found, BTreeMap::from([(of("http:request/2"), "http:request/2")]));
    }

    #[test]
    fn rows_as_the_node_sends_them() {
        let text = Term::text;
        let [pid, name, vhost, none] = ["<0.9.0>", "q", "/", ""].map(text);
        let row = Term::tuple([pid, Term::atom("queue"), name, vhost, none.clone(), none]);
        let mut found = Identities::new();
        let part = Term::tuple([Term::atom("rows"), Term::list([row])]);
        assert_eq!(add_rows(&part, &mut found), Some(()));
        let identity = &found["<0.9.0>"];
        assert_eq!((identity.role.as_str(), identity.name.as_str()), ("queue", "q"));
        assert_eq!(add_rows(&Term::list([]), &mut found), None);
    }
}
