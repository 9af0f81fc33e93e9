//! A separate place for each test, with its own temporary directory and state, in which the program runs; and
//! assertions about its remains.

use std::{
    env,
    fmt::Display,
    fs::{self, File},
    io::BufReader,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rabbitscope_broker::Broker;
use rabbitscope_profiles::{Profile, read_pprof};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    conditions::{eventually, is_root},
    existing_broker,
    machine::{holds, pid, processes_naming},
    program::{Ended, Ends},
};

/// A test's directory. Dropping it removes it.
pub struct Workbench {
    /// The directory, in which every command runs.
    pub directory: PathBuf,
    _owner: TempDir,
}

/// Returns the program's path. Cargo puts it above the test programs.
pub fn program() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("rabbitscope")
}

/// Returns a path in the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

impl Workbench {
    /// Makes a place for a test.
    pub fn new(test: &str) -> Self {
        let owner = tempfile::Builder::new().prefix(&format!("rabbitscope-{test}-")).tempdir();
        let owner = owner.unwrap();
        fs::create_dir(owner.path().join("tmp")).unwrap();
        Self { directory: owner.path().to_owned(), _owner: owner }
    }

    /// Makes a place for a test that needs root. Returns `None`, with a message, if this process is not root's.
    pub fn for_root(test: &str) -> Option<Self> {
        is_root().then(|| Self::new(test))
    }

    /// Writes a file in this place.
    pub fn file(&self, name: &str, text: impl Display) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text.to_string()).unwrap();
        path
    }

    /// Writes a file in this place with these permissions.
    pub fn file_with_mode(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Returns a path in this place.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Reads a file of text.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads `run.json` or another JSON file of a run.
    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Reads a file with a JSON value on each line, such as `series.jsonl`.
    #[track_caller]
    pub fn rows(&self, name: &str) -> Vec<Value> {
        self.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Reads a profile.
    #[track_caller]
    pub fn profile(&self, name: &str) -> Profile {
        read_pprof(BufReader::new(File::open(self.path(name)).unwrap())).unwrap()
    }

    /// Returns a command for the program, not started yet. Arguments are separated by white space.
    pub fn command(&self, arguments: &str) -> Command {
        self.command_through("", arguments)
    }

    /// Returns a command for the program that another one starts, such as `unshare --pid`.
    pub fn command_through(&self, prefix: &str, arguments: &str) -> Command {
        self.command_line(&format!("{prefix} {} {arguments}", program().display()))
    }

    /// Returns a command line in this place, not started yet. Words are separated by white space.
    pub fn command_line(&self, words: &str) -> Command {
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
    pub fn rabbitscope(&self, arguments: &str) -> Ended {
        self.command_through("timeout --signal=KILL 120", arguments).ended()
    }

    /// Starts the program.
    pub fn start(&self, arguments: &str) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Runs a scenario on the shared broker, with results in `out`.
    pub fn run(&self, scenario: impl Display) -> Ended {
        self.run_with(scenario, "")
    }

    /// Runs a scenario on the shared broker with further options.
    pub fn run_with(&self, scenario: impl Display, options: &str) -> Ended {
        self.run_on(existing_broker(), scenario, options)
    }

    /// Runs a scenario on this broker.
    pub fn run_on(&self, broker: &Broker, scenario: impl Display, options: &str) -> Ended {
        self.file("s.toml", scenario);
        self.rabbitscope(&run_line(broker, options))
    }

    /// Runs a scenario on the shared broker in place of the last one, and returns the printed record.
    #[track_caller]
    pub fn record(&self, scenario: impl Display, code: i32) -> Value {
        let _ = fs::remove_dir_all(self.path("out"));
        self.run_with(scenario, "--json").code(code).json()
    }

    /// Starts a run of a scenario with results in `out`, and returns once it has recorded this many seconds.
    #[track_caller]
    pub fn start_run(&self, broker: &Broker, scenario: impl Display, seconds: usize) -> Child {
        self.start_run_with(broker, scenario, "", seconds)
    }

    /// Does the same with further options.
    #[track_caller]
    pub fn start_run_with(
        &self,
        broker: &Broker,
        scenario: impl Display,
        options: &str,
        seconds: usize,
    ) -> Child {
        self.file("s.toml", scenario);
        let running = self.start(&run_line(broker, options));
        self.await_seconds("out", seconds);
        running
    }

    /// Waits until a run has recorded this many seconds.
    #[track_caller]
    pub fn await_seconds(&self, out: &str, seconds: usize) {
        let series = self.path(out).join("series.jsonl");
        eventually(&format!("{seconds} seconds are in {out}"), || lines(&series) >= seconds);
    }

    /// Ends the running processes that were started here.
    pub fn end_processes(&self) {
        for process in self.processes() {
            let _ = rustix::process::kill_process(pid(process), rustix::process::Signal::KILL);
        }
    }

    /// Returns every running process that was started here, in particular brokers.
    pub fn processes(&self) -> Vec<u32> {
        processes_naming(self.directory.display())
    }

    /// Asserts that within a few seconds no process and no broker's directory is left.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        eventually("no process is left", || self.processes().is_empty());
        eventually("no directory is left", || self.broker_directories().is_empty());
    }

    /// Returns the directories of throwaway brokers that were started here.
    pub fn broker_directories(&self) -> Vec<PathBuf> {
        let of_user = fs::read_dir(self.path("tmp")).unwrap().flatten();
        let brokers = of_user.filter_map(|entry| fs::read_dir(entry.path().join("brokers")).ok());
        brokers.flat_map(|entries| entries.flatten().map(|entry| entry.path())).collect()
    }

    /// Returns `node.json` of the only throwaway broker that was started here.
    pub fn broker_facts(&self) -> Value {
        let file = fs::read(self.broker_directories().remove(0).join("node.json")).unwrap();
        serde_json::from_slice(&file).unwrap()
    }

    /// Returns the entries of runs that may have left objects on a broker.
    pub fn journal_entries(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("state/rabbitscope/runs"));
        entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }

    /// Returns all files of a directory of this place that contain `text`.
    pub fn files_with(&self, directory: &str, text: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(directory)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        files.filter(|file| holds(&fs::read(file).unwrap(), text.as_bytes())).collect()
    }
}

impl Drop for Workbench {
    /// A test that fails midway may leave a broker that was started to stay.
    fn drop(&mut self) {
        self.end_processes();
    }
}

/// Returns the arguments of a run of `s.toml` on a broker.
fn run_line(broker: &Broker, options: &str) -> String {
    format!("run s.toml --uri {} --out out {options}", broker.uris()[0])
}

/// Returns all files below a directory whose path contains `part`.
pub fn files_below(directory: &Path, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() { files_below(&path, part) } else { vec![path] }
    });
    found.filter(|path| path.display().to_string().contains(part)).collect()
}

/// Returns the number of lines of a file; 0 if it does not exist.
pub fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}
