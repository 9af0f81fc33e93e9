//! One broker; its objects on the broker, in the kernel and on the disk; and their remains after a fault.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_testing::{OwnBroker, Workbench, evaluate, lines, node_options, own_broker};

use super::table::Outcome;
use crate::inside::remains::{self, LEFT, NOTHING};

/// Time limit for the node to remove the loaded modules. It does so once the connection drops, or else after 15 s.
const CLEAN_WITHIN: Duration = Duration::from_secs(30);

/// Every program has ended by then, after any fault.
pub(super) const END_WITHIN: Duration = Duration::from_secs(60);

/// Everything on the broker that a command could change.
const STANDING: &str = "{[element(4, N) || N <- lists:sort(rabbit_amqqueue:list_names())], \
    [element(4, N) || N <- lists:sort(rabbit_exchange:list_names())], \
    length(rabbit_binding:list(<<\"/\">>)), \
    [proplists:get_value(user, U) || U <- rabbit_auth_backend_internal:list_users()], \
    rabbit_vhost:list_names(), rabbit_policy:list(), rabbit_plugins:active(), \
    rabbit_runtime_parameters:list()}";

/// The removal that a user makes with `rabbitmqctl`.
const DELETE_BY_HAND: &str = "[{ok, _} = rabbit_amqqueue:delete(Q, false, false, <<\"person\">>) \
    || Q <- rabbit_amqqueue:list(), N <- [element(4, amqqueue:get_name(Q))], \
    binary:match(N, <<\"fault.\">>) =:= {0, 6}], \
    [rabbit_exchange:delete(N, false, <<\"person\">>) || N <- rabbit_exchange:list_names(), \
    binary:match(element(4, N), <<\"fault.\">>) =:= {0, 6}], ok";

/// Names, or their prefixes, that a run directory may hold.
const RESULTS: [&str; 12] = [
    "find-rate.",
    "run.json",
    "scenario.toml",
    "series.jsonl",
    "trace.jsonl",
    "broker.json",
    "broker.log",
    "report.html",
    "profile-",
    "latency-",
    "result",
    "rows.csv",
];

pub(super) struct World {
    pub(super) bench: Workbench,
    pub(super) broker: OwnBroker,
    standing: String,
}

impl World {
    pub(super) fn new() -> Self {
        let bench = Workbench::new("faults");
        let broker = own_broker();
        remains::start_busy(&bench, &broker);
        let standing = evaluate(&broker, STANDING);
        Self { bench, broker, standing }
    }

    /// Returns the arguments for the node.
    pub(super) fn node(&self) -> String {
        node_options(&self.broker)
    }

    /// Starts the program in an empty directory `out`.
    pub(super) fn start(&self, arguments: &str) -> Child {
        let out = self.bench.path("out");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out).unwrap();
        // Nothing reads the output, so that a full pipe would block the program.
        self.bench.command(arguments).stdout(Stdio::null()).spawn().unwrap()
    }

    /// Waits for the end, and collects all remains.
    pub(super) fn outcome(&self, child: Child, programs: &[u32]) -> Outcome {
        self.look_around(World::end_of(child), programs)
    }

    /// Waits for the end, and returns the exit.
    pub(super) fn end_of(mut child: Child) -> Outcome {
        let began = Instant::now();
        let mut leftovers = Vec::new();
        let status = wait(&mut child).unwrap_or_else(|| {
            let waits = waits_of(child.id());
            leftovers.push(format!("it had not ended after {} s: {waits}", END_WITHIN.as_secs()));
            child.kill().unwrap();
            child.wait().unwrap()
        });
        let took = began.elapsed();
        if said(&mut child).contains("panicked") {
            leftovers.push("it panicked".to_owned());
        }
        Outcome { code: code_of(status), took, leftovers, ..Outcome::default() }
    }

    /// Adds all remains of a program that has ended.
    pub(super) fn look_around(&self, mut outcome: Outcome, programs: &[u32]) -> Outcome {
        let (is_read, problem) = self.read_record();
        outcome.leftovers.extend(problem);
        let (is_said, left) = self.left(programs);
        outcome.leftovers.extend(left);
        Outcome { is_read, is_said, ..outcome }
    }

    /// Returns the remains on the node, in the kernel, on the disk, and as processes. The flag tells whether the
    /// program reported an object on the broker that could not be proved to be its own.
    fn left(&self, programs: &[u32]) -> (bool, Vec<String>) {
        let mut left = Vec::new();
        let is_said = self.remove_leftovers(&mut left);
        let mut within = |what: &str, state: &dyn Fn() -> Option<String>| {
            let deadline = Instant::now() + CLEAN_WITHIN;
            while let Some(found) = state() {
                if Instant::now() > deadline {
                    left.push(format!("{what}: {found}"));
                    return;
                }
                thread::sleep(Duration::from_millis(50));
            }
        };
        let other = |found: String, wanted: &str| (found != wanted).then_some(found);
        within("on the node", &|| other(evaluate(&self.broker, LEFT), NOTHING));
        within("on the broker", &|| other(evaluate(&self.broker, STANDING), &self.standing));
        within("in the kernel", &|| still_loaded(programs));
        within("processes", &|| some(&self.bench.processes()));
        within("throwaway brokers", &|| some(&self.bench.broker_directories()));
        left.extend(self.files());
        if !left.is_empty() {
            self.clear();
        }
        (is_said, left)
    }

    /// Clears the remains of one fault, so that they do not count for the next.
    fn clear(&self) {
        self.bench.end_processes();
        evaluate(&self.broker, DELETE_BY_HAND);
        for directory in ["out", "tmp", "state"] {
            let path = self.bench.path(directory);
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).unwrap();
        }
    }

    /// Removes the queues and exchanges of a killed run, which stay until then.
    fn remove_leftovers(&self, left: &mut Vec<String>) -> bool {
        let mut is_said = false;
        let remove = format!("leftovers --remove --assume-unbound --uri {}", self.broker.uri());
        let deadline = Instant::now() + CLEAN_WITHIN;
        loop {
            // Consumers of a killed connection remain for a moment.
            let ended = self.bench.rabbitscope(&remove);
            if ended.code == Some(0) {
                break;
            }
            // The run was killed between a declaration and its marker, which is a short moment.
            if ended.stdout.contains("ended before it could mark it") {
                is_said = true;
                evaluate(&self.broker, DELETE_BY_HAND);
                continue;
            }
            // The run was killed between its entry and its marker, before any declaration. The broker's objects show
            // whether that is so.
            if ended.stdout.contains("its marker is not on this broker") {
                self.forget();
                continue;
            }
            if Instant::now() > deadline {
                left.push(format!("leftovers --remove: {ended:?}"));
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        // A run that was killed before its first declaration has an entry, but nothing on the broker.
        left.extend(self.entries().iter().map(|entry| format!("entry {}", entry.display())));
        is_said
    }

    /// Returns the entries of runs that may have left objects on the broker.
    pub(super) fn entries(&self) -> Vec<PathBuf> {
        self.bench.journal_entries()
    }

    fn forget(&self) {
        for entry in self.entries() {
            let id = entry.file_stem().unwrap().to_string_lossy().into_owned();
            self.bench.rabbitscope(&format!("leftovers --forget {id}"));
        }
    }

    /// Returns whether a report was made from the rows of an unfinished run, and the problem if there was one.
    fn read_record(&self) -> (bool, Option<String>) {
        if lines(&self.bench.path("out/run/series.jsonl")) == 0 {
            return (false, None);
        }
        let ended = self.bench.rabbitscope("report out/run -o out/result.html");
        let problem = (ended.code != Some(0)).then(|| format!("report: {ended:?}"));
        (problem.is_none(), problem)
    }

    /// Returns the files that are not results.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        unnamed(&self.bench.path("out"), &mut found);
        unnamed(&self.bench.path("tmp"), &mut found);
        found
    }
}

fn some<T: std::fmt::Debug>(found: &[T]) -> Option<String> {
    (!found.is_empty()).then(|| format!("{found:?}"))
}

fn unnamed(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            unnamed(&path, found);
        } else if name.starts_with("rabbitscope-") && name.ends_with(".pb.gz") {
            // A recording that had no room at its path; the program reported the path.
            fs::remove_file(&path).unwrap();
        } else if !RESULTS.iter().any(|result| name.starts_with(result)) {
            found.push(format!("file {}", path.display()));
        }
    }
}

fn still_loaded(programs: &[u32]) -> Option<String> {
    if programs.is_empty() {
        return None;
    }
    let loaded = aya::programs::loaded_programs().flatten().map(|program| program.id());
    some(&loaded.filter(|id| programs.contains(id)).collect::<Vec<_>>())
}

fn wait(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + END_WITHIN;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Returns the error output. A pipe takes 64 KiB, which none of these commands fills.
fn said(child: &mut Child) -> String {
    use std::io::Read;
    let mut text = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut text);
    }
    text
}

pub(super) fn code_of(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(9)) => "killed".to_owned(),
        (None, signal) => format!("signal {}", signal.unwrap_or_default()),
    }
}

/// Returns the state of each thread, and the functions of the kernel in which it waits (`proc_pid_stack(5)`).
fn waits_of(pid: u32) -> String {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let waits = tasks.map(|task| {
        let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let (status, stack) = (read("status"), read("stack"));
        let fields =
            status.lines().filter(|line| line.starts_with("Name:") || line.starts_with("State:"));
        let kernel = stack.lines().filter_map(|line| line.split_whitespace().nth(1));
        fields.chain(kernel).collect::<Vec<_>>().join(" ")
    });
    waits.collect::<Vec<_>>().join("; ")
}
