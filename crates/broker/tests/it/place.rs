//! A private directory for each test, and queries of the process table.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// A directory that is removed at the end of the test.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// Processes that have the path anywhere in their environment or arguments.
pub(crate) fn processes_of(path: &Path) -> Vec<u32> {
    let path = path.display().to_string();
    let mentions = |pid: u32, file: &str| {
        fs::read(format!("/proc/{pid}/{file}"))
            .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&path))
    };
    let entries = fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|&pid| mentions(pid, "environ") || mentions(pid, "cmdline"))
        .collect()
}

/// Waits up to a minute for a condition.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "not within 60 s: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Reports that a test could not run, past the output capture of the test program. `make test` counts such lines.
pub(crate) fn not_run(test: &str, reason: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "\nnot run: {test}: {reason}");
}
