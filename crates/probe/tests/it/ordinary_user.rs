//! A user without any privilege, who owns a node and records it.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// Highest level at which an ordinary user may sample own processes, without the kernel.
const USERS_OWN: i32 = 2;

/// User and group `nobody`, `nogroup`.
const NOBODY: u32 = 65534;

/// The user `nobody` with a home. Both end with the value.
pub(crate) struct OrdinaryUser {
    /// Root's directory, readable by the user, so that no user can plant files where root writes.
    directory: TempDir,
    home: PathBuf,
    paranoid: Option<String>,
}

impl OrdinaryUser {
    /// A user for the test `name`. If the machine denies perf events to ordinary users, it allows them until the
    /// end of the test.
    pub(crate) fn new(name: &str) -> Self {
        let prefix = format!("rabbitscope-user-{name}-");
        let directory = tempfile::Builder::new().prefix(&prefix).tempdir().unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
        let home = directory.path().join("home");
        fs::create_dir(&home).unwrap();
        chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
        let before = fs::read_to_string(PARANOID).unwrap();
        let is_allowed = before.trim().parse::<i32>().unwrap() <= USERS_OWN;
        if !is_allowed {
            fs::write(PARANOID, USERS_OWN.to_string()).unwrap();
        }
        Self { directory, home, paranoid: (!is_allowed).then_some(before) }
    }

    /// A command run by this user.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all"])
            .args(["--no-new-privs", "--"])
            .arg(program)
            .env("HOME", &self.home)
            .current_dir(&self.home);
        command
    }

    /// Starts a node with these flags, in which `burn` burns CPU in each of these ways.
    pub(crate) fn start_node(&self, flags: &[&str], kinds: &[&str]) -> OwnNode {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/burn.erl");
        let own = self.directory.path().join("burn.erl");
        fs::copy(source, &own).unwrap();
        let starts: String = kinds.iter().flat_map(|kind| ["burn:start(", kind, "), "]).collect();
        let begin = format!(
            "{{ok, M, Code}} = compile:file(\"{path}\", [binary]), \
             {{module, M}} = code:load_binary(M, \"{path}\", Code), \
             {starts} io:format(\"ready~n\").",
            path = own.display()
        );
        let mut child = self
            .command(Path::new("erl"))
            .args(flags)
            .args(["-noinput", "-eval", &begin])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        OwnNode { child }
    }

    /// Runs an ignored test of this program as this user, with the pid of `node`.
    pub(crate) fn run_test(&self, test: &str, node: &OwnNode) -> Output {
        self.run_test_with(test, "RABBITSCOPE_TEST_PID", &node.pid().to_string())
    }

    /// Runs an ignored test of this program as this user, with a variable.
    pub(crate) fn run_test_with(&self, test: &str, name: &str, value: &str) -> Output {
        let program = self.directory.path().join("it");
        // Copied by a separate process: a child forked meanwhile by another test would hold the copy open for
        // writing.
        let copied =
            Command::new("cp").args([&std::env::current_exe().unwrap(), &program]).status();
        assert!(copied.unwrap().success());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self.command(&program)
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env(name, value)
            .output()
            .unwrap()
    }
}

impl Drop for OrdinaryUser {
    fn drop(&mut self) {
        if let Some(before) = &self.paranoid {
            let _ = fs::write(PARANOID, before);
        }
    }
}

/// A node without RabbitMQ. It ends with the value.
pub(crate) struct OwnNode {
    child: Child,
}

impl OwnNode {
    /// Pid of the VM.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for OwnNode {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The VM creates these files, under any user.
        for file in [format!("perf-{}.map", self.pid()), format!("jit-{}.dump", self.pid())] {
            let _ = fs::remove_file(Path::new("/tmp").join(file));
        }
    }
}
