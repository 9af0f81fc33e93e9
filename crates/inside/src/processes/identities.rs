//! Roles and names of the processes in a recording, read from the node.
//!
//! The broker's tables are read before the recording. This disturbs no process and includes processes that end
//! meanwhile. The recorded processes are read after the recording. The role of a process that has ended by then follows
//! from the function at the root of its stacks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError, Loaded, ModuleSource, Term};
use rabbitscope_probe::drop_privileges;
use rabbitscope_profiles::{FrameKind, GONE, Identities, Identity, Profile, StackOutcome};

use super::module_lending::ModuleBorrower;

/// Timeout of a request to a busy node with many thousand processes.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of processes in one request, so that a message has less than 100 KiB.
const PROCESSES_PER_REQUEST: usize = 5_000;

/// Identities from before the recording, and the module on the node that answers further requests. Or the reason for their
/// absence.
#[derive(Debug)]
pub struct IdentityResolver {
    started: Result<(Requests, Identities), String>,
}

impl IdentityResolver {
    /// Connects, loads the module and reads the tables. A failure becomes a note in the profiles.
    pub fn start(options: Result<ConnectOptions, impl fmt::Display>) -> Self {
        Self::start_with(options, None)
    }

    /// Does the same with the module of another thread, if that lends one.
    pub fn start_with(
        options: Result<ConnectOptions, impl fmt::Display>,
        borrower: Option<ModuleBorrower>,
    ) -> Self {
        let options = options.map_err(|error| error.to_string());
        let started = options.and_then(|options| {
            let requests = Requests::start(options, borrower).map_err(|error| error.to_string())?;
            let known = requests.read("tables", vec![vec![]])?;
            Ok((requests, known))
        });
        Self { started }
    }

    /// Adds the identities of their processes to the profiles, and notes about failures. Then the node removes the module.
    pub fn resolve(self, profiles: &mut [Profile]) {
        match self.started {
            Ok((requests, known)) => resolve(&requests, known, profiles),
            Err(reason) => note(profiles, &reason),
        }
    }
}

/// Requests to the module, which stays on the node as long as this value. A removal costs a node with many processes
/// much: each of them must say that it does not use the module.
#[derive(Debug)]
struct Requests {
    /// Absent once no more requests follow.
    calls: Option<Sender<Call>>,
    /// Its end is the removal of the module.
    thread: Option<JoinHandle<()>>,
}

/// A function with the arguments of each call.
struct Call {
    function: &'static str,
    arguments: Vec<Vec<Term>>,
    answer: Sender<Result<Identities, String>>,
}

impl Requests {
    fn start(options: ConnectOptions, borrower: Option<ModuleBorrower>) -> io::Result<Self> {
        let (calls, asked) = channel();
        let serve = move || {
            if let Err(reason) = answer_all(&options, borrower.as_ref(), &asked) {
                for call in asked {
                    // Nobody waits for the answer to a call that has ended.
                    drop(call.answer.send(Err(reason.clone())));
                }
            }
        };
        let thread = thread::Builder::new().name("identities".to_owned()).spawn(serve)?;
        Ok(Self { calls: Some(calls), thread: Some(thread) })
    }

    /// Calls the function with each of these arguments.
    fn read(
        &self,
        function: &'static str,
        arguments: Vec<Vec<Term>>,
    ) -> Result<Identities, String> {
        let (answer, answered) = channel();
        if let Some(calls) = &self.calls {
            // Without its thread there is no answer either.
            let _ = calls.send(Call { function, arguments, answer });
        }
        answered.recv().unwrap_or_else(|_| Err("the thread that asks the node failed".to_owned()))
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            // Its failure was the answer to the last call.
            let _ = thread.join();
        }
    }
}

/// Connects, borrows or loads the module, and answers until no more requests follow. The way to the node may need
/// privileges; nothing after it does.
fn answer_all(
    options: &ConnectOptions,
    borrower: Option<&ModuleBorrower>,
    asked: &Receiver<Call>,
) -> Result<(), String> {
    let connection = Connection::open(options).map_err(|error| error.to_string())?;
    drop_privileges().map_err(|error| error.to_string())?;
    if let Some(module) = borrower.and_then(ModuleBorrower::module) {
        answer_calls(&connection, &module, asked);
        return Ok(());
    }
    let module = Loaded::functions(&connection, ModuleSource::OWNERS);
    let module = module.map_err(|error| error.to_string())?;
    answer_calls(&connection, module.module(), asked);
    module.end().map(drop).map_err(|error| error.to_string())
}

fn answer_calls(connection: &Connection, module: &str, asked: &Receiver<Call>) {
    for Call { function, arguments, answer } in asked {
        let mut found = Identities::new();
        let read = arguments.into_iter().try_for_each(|arguments| {
            let rows = rows_of(connection, module, function, arguments, READ_TIMEOUT);
            rows.map(|rows| found.extend(rows))
        });
        // Nobody waits for the answer to a call that has ended.
        let _ = answer.send(read.map(|()| found).map_err(|error| error.to_string()));
    }
}

fn resolve(requests: &Requests, mut known: Identities, profiles: &mut [Profile]) {
    let seen: BTreeSet<String> = profiles.iter().flat_map(pids_of).collect();
    let seen: Vec<String> = seen.into_iter().collect();
    let asked = asked_about(&seen).map(|pids| vec![texts_of(pids)]).collect();
    match requests.read("processes", asked) {
        Ok(answers) => {
            for (pid, identity) in answers {
                if identity.role == GONE {
                    known.entry(pid).or_insert(identity);
                } else {
                    known.insert(pid, identity);
                }
            }
        }
        Err(reason) => note(profiles, &reason),
    }
    match ended(requests, &known, profiles) {
        Ok(answers) => known.extend(answers),
        Err(reason) => note(profiles, &reason),
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
    requests: &Requests,
    known: &Identities,
    profiles: &[Profile],
) -> Result<Identities, String> {
    let is_gone = |pid: &str| known.get(pid).is_some_and(|identity| identity.role == GONE);
    let mut started_with = BTreeMap::new();
    for profile in profiles {
        first_functions(profile, is_gone, &mut started_with);
    }
    let processes = ended_processes(started_with);
    let some = processes.chunks(PROCESSES_PER_REQUEST);
    requests.read("ended", some.map(|some| vec![Term::list(some.to_vec())]).collect())
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
