//! Both programs with the same command line.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use rabbitscope_testing::{Workbench, not_run, repository, signal};
use rustix::process::Signal;

use super::broker::Place;

/// Returns the directory with PerfTest's jars; absent, with a message, if there is no Java.
pub(super) fn jars() -> Option<PathBuf> {
    static FETCHED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let fetched = FETCHED.get_or_init(|| {
        let script = repository("scripts/perf-test.sh");
        let mut fetch = Command::new("timeout");
        let output = fetch.arg("300").arg(script).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let path = String::from_utf8(output.stdout).unwrap();
        if output.status.success() { Ok(PathBuf::from(path.trim())) } else { Err(said) }
    });
    match fetched {
        Ok(path) => Some(path.clone()),
        Err(reason) => {
            not_run(reason);
            None
        }
    }
}

/// A running program, and the file to which it writes.
pub(super) struct Running {
    child: Child,
    log: PathBuf,
    /// The file and the text that show that the load has begun.
    begun: (PathBuf, &'static str),
}

impl Running {
    /// Starts PerfTest with the smallest cost of a JVM.
    pub(super) fn perf_test(bench: &Workbench, jars: &Path, line: &str, place: &Place<'_>) -> Self {
        let log = bench.path("perf-test.log");
        let mut command = Command::new("java");
        command
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m", "-cp"])
            .arg(format!("{}/*", jars.display()))
            .arg("com.rabbitmq.perf.PerfTest")
            .args(line.split_whitespace())
            .current_dir(&bench.directory)
            // Not on the command line, which every user can read.
            .env("URI", place.uri());
        // A program without work prints no statistics.
        let begun = if line.contains("-r 0 ") {
            "starting producer #0, channel #0"
        } else {
            "sent:|received:|time "
        };
        Self { child: start(command, &log), begun: (log.clone(), begun), log }
    }

    /// Starts our program with the result of the conversion.
    pub(super) fn rabbitscope(bench: &Workbench, line: &str, place: &Place<'_>) -> Self {
        let converted = convert(bench, line);
        assert!(converted.status.success(), "{line}: {converted:?}");
        let text = String::from_utf8(converted.stdout).unwrap();
        bench.file("s.toml", text.replace("amqp://localhost", &place.uri()));
        fs::remove_dir_all(bench.path("out")).ok();
        let log = bench.path("rabbitscope.log");
        let command = bench.command("run s.toml --out out --json");
        Self {
            child: start(command, &log),
            begun: (bench.path("out/series.jsonl"), "published"),
            log,
        }
    }

    /// Returns an error if the program has ended before the load began.
    pub(super) fn has_begun(&mut self) -> Result<bool, String> {
        let (file, words) = &self.begun;
        let text = fs::read_to_string(file).unwrap_or_default();
        let has_begun = words.split('|').any(|word| text.contains(word));
        match self.child.try_wait().unwrap() {
            Some(status) if !has_begun => {
                Err(format!("ended before it began, {status}: {}", self.said()))
            }
            _ => Ok(has_begun),
        }
    }

    pub(super) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Asks the program to end, and waits for the end.
    pub(super) fn end(mut self) {
        signal(&self.child, Signal::TERM);
        self.wait();
    }

    /// Waits for the end, and returns the exit code.
    pub(super) fn wait(&mut self) -> Option<i32> {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "did not end: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(mut command: Command, log: &Path) -> Child {
    let file = File::create(log).unwrap();
    let errors = file.try_clone().unwrap();
    command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn().unwrap()
}

/// Returns the output of `--from-perftest`.
pub(super) fn convert(bench: &Workbench, line: &str) -> std::process::Output {
    let mut command = bench.command("run");
    command.arg("--from-perftest").arg(format!("perf-test {line}")).output().unwrap()
}
