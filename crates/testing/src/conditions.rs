//! Conditions of tests: those that come true in time, and those without which a test cannot run.

use std::{
    env, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// Waits for a condition, 90 s at most.
#[track_caller]
pub fn eventually(what: &str, condition: impl FnMut() -> bool) {
    within(Duration::from_secs(90), what, condition);
}

/// Waits for a condition, for `limit` at most.
#[track_caller]
pub fn within(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Reports that the test of this thread could not run, past the capture of the test program. `make test` counts such
/// lines.
pub fn not_run(reason: &str) {
    use io::Write;
    let test = thread::current();
    let test = test.name().unwrap_or("a test");
    let _ = writeln!(io::stderr().lock(), "\nnot run: {test}: {reason}");
}

/// Returns whether this process may record profiles.
pub fn may_profile() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns whether this process is root's. If not, reports that the test of this thread did not run.
pub fn is_root() -> bool {
    if !may_profile() {
        not_run("profiles, packets, other users and namespaces need root");
    }
    may_profile()
}

/// Returns a sentence about the first of these programs that is not installed.
pub fn missing_program(programs: &[&str]) -> Option<String> {
    let missing = programs.iter().find(|program| path_of(program).is_none())?;
    Some(format!("{missing} is not installed (scripts/setup.sh)"))
}

/// Returns the path of a program. Some programs are only in root's directories.
pub fn path_of(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    directories.map(|directory| directory.join(Path::new(program))).find(|file| file.is_file())
}
