//! A separate place for each test, with its own temporary directory and state, in which the program runs; and
//! assertions about its remains.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use base64::Engine;
use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;
use tempfile::TempDir;

/// A test's directory. Dropping it removes it.
pub(crate) struct Workbench {
    pub(crate) directory: PathBuf,
    _owner: TempDir,
}

/// The exit and the output of a program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workbench {
    pub(crate) fn new(test: &str) -> Self {
        let owner = tempfile::Builder::new().prefix(&format!("rabbitscope-{test}-")).tempdir();
        let owner = owner.unwrap();
        fs::create_dir(owner.path().join("tmp")).unwrap();
        Self { directory: owner.path().to_owned(), _owner: owner }
    }

    /// Writes a file in this place.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a file in this place with these permissions.
    pub(crate) fn file_with_mode(&self, name: &str, text: &str, mode: u32) {
        let path = self.file(name, text);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads `run.json` or another JSON file of a run.
    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Returns a command for the program, not started yet.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        self.command_line(&format!("{} {arguments}", env!("CARGO_BIN_EXE_rabbitscope")))
    }

    /// Returns a command line in this place, not started yet. Words are separated by white space.
    pub(crate) fn command_line(&self, words: &str) -> Command {
        let mut words = words.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .current_dir(&self.directory)
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env_remove("RABBITSCOPE_URI")
            // Tests share a few CPUs, so that the load generator may be late through no fault of its own.
            .env("RABBITSCOPE_SET_RUN__SELF_CHECK", "false")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end, within two minutes. Arguments are separated by white space.
    pub(crate) fn rabbitscope(&self, arguments: &str) -> Ended {
        let program = env!("CARGO_BIN_EXE_rabbitscope");
        let bounded = format!("timeout --signal=KILL 120 {program} {arguments}");
        Ended::from(self.command_line(&bounded).output().unwrap())
    }

    /// Starts the program.
    pub(crate) fn start(&self, arguments: &str) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Ends the running processes that were started here.
    pub(crate) fn end_processes(&self) {
        for pid in self.processes() {
            let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
            let _ = rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL);
        }
    }

    /// Returns every running process that was started here, in particular brokers.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let wanted = self.directory.display().to_string();
        let entries = fs::read_dir("/proc").unwrap();
        entries
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
            .filter(|pid| {
                fs::read(format!("/proc/{pid}/environ"))
                    .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&wanted))
            })
            .collect()
    }

    /// Asserts that within a few seconds no process and no broker's directory is left.
    pub(crate) fn assert_nothing_left(&self) {
        eventually("no process is left", || self.processes().is_empty());
        eventually("no directory is left", || self.broker_directories().is_empty());
    }

    pub(crate) fn broker_directories(&self) -> Vec<PathBuf> {
        let of_user = fs::read_dir(self.path("tmp")).unwrap().flatten();
        let brokers = of_user.filter_map(|entry| fs::read_dir(entry.path().join("brokers")).ok());
        brokers.flat_map(|entries| entries.flatten().map(|entry| entry.path())).collect()
    }

    /// Returns all files below a directory of this place that contain `text`.
    pub(crate) fn files_with(&self, directory: &str, text: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(directory)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        files.filter(|file| contains(&fs::read(file).unwrap(), text.as_bytes())).collect()
    }
}

impl Drop for Workbench {
    /// A test that fails midway may leave a broker that was started to stay.
    fn drop(&mut self) {
        self.end_processes();
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "{self:#?}");
        self
    }

    /// Asserts that a one-line error has all these parts, and that standard output is empty.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        assert_eq!(self.stdout, "", "{self:#?}");
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in {self:#?}");
        }
        self
    }
}

/// Returns a broker that the program did not start, as far as it can tell. All tests share it; it ends with this
/// process.
pub(crate) fn existing_broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    BROKER.get_or_init(own_broker)
}

/// Starts a broker for one test, for work that other tests could not tolerate.
pub(crate) fn own_broker() -> Broker {
    Broker::start_with_own_log(&ThrowawayBroker::default()).unwrap()
}

/// Returns the broker's login in the form of basic authentication.
pub(crate) fn basic_authentication(broker: &Broker) -> String {
    let (user, password) = broker.login();
    base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"))
}

/// Compiles an Erlang module on the node, and loads it in place of the existing one.
pub(crate) fn load_module(broker: &Broker, source: &Path) {
    let path = source.display();
    let loaded = broker.eval(&format!(
        "{{ok, M, Code}} = compile:file(\"{path}\", [binary]), code:purge(M), \
         code:load_binary(M, \"{path}\", Code)."
    ));
    assert!(loaded.unwrap().contains("module"));
}

/// Returns the names of the queues on the shared broker, as Erlang prints them.
pub(crate) fn queues_on(broker: &Broker) -> String {
    broker.eval("[element(4, Name) || Name <- rabbit_amqqueue:list_names()]").unwrap()
}

/// Returns processes with a text in their arguments or environment, which other users may be able to read.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let has = |pid: &u32, file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}"));
        bytes.is_ok_and(|bytes| contains(&bytes, text.as_bytes()))
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| has(pid, "cmdline") || has(pid, "environ")).collect()
}

#[track_caller]
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !condition() {
        assert!(Instant::now() < deadline, "not within 90 s: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Returns a scenario with publishers and consumers on one classic queue, of length `duration`.
pub(crate) fn scenario(queue: &str, duration: &str) -> String {
    format!(
        r#"
name = "test"
[run]
duration = "{duration}"
[[queues]]
name = "{queue}"
durable = true
[[publishers]]
queue = "{queue}"
rate = 2000
confirm-window = 100
[[consumers]]
queue = "{queue}"
prefetch = 100
"#
    )
}

/// Returns whether this process may record profiles.
pub(crate) fn may_profile() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the same; if it may not, reports that the test did not run.
pub(crate) fn may_profile_or_says_so(test: &str) -> bool {
    if !may_profile() {
        not_run(test, "profiles need root");
    }
    may_profile()
}

/// Reports that a test could not run, bypassing the capture of the test program; `make test` counts such lines.
pub(crate) fn not_run(test: &str, reason: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "\nnot run: {test}: {reason}");
}

/// Returns all files below a directory whose path contains `part`.
pub(crate) fn files_below(directory: &Path, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() { files_below(&path, part) } else { vec![path] }
    });
    found.filter(|path| path.display().to_string().contains(part)).collect()
}

pub(crate) fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}
