//! Ends of programs: exit code and output.

use std::process::{Child, Command, Output};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The exit and the output of a program.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; absent after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
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
    #[expect(clippy::return_self_not_must_use, reason = "an assertion may end a chain")]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "{self:#?}");
        self
    }

    /// Asserts that a one-line error has all these parts, and that standard output is empty.
    #[track_caller]
    #[expect(clippy::return_self_not_must_use, reason = "an assertion may end a chain")]
    pub fn says(self, parts: &[&str]) -> Self {
        assert_eq!(self.stdout, "", "{self:#?}");
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in {self:#?}");
        }
        self
    }

    /// Parses standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// A program that can be awaited.
pub trait Ends {
    /// Runs or awaits the program to its end.
    fn ended(self) -> Ended;
}

impl Ends for &mut Command {
    fn ended(self) -> Ended {
        Ended::from(self.output().unwrap())
    }
}

impl Ends for Child {
    fn ended(self) -> Ended {
        Ended::from(self.wait_with_output().unwrap())
    }
}

/// A running program that a signal stops.
pub trait Stops {
    /// Sends a signal and awaits the end.
    fn ended_by(self, signal: Signal) -> Ended;

    /// Kills the program, which leaves its output unread.
    fn killed(self);
}

impl Stops for Child {
    fn ended_by(self, how: Signal) -> Ended {
        signal(&self, how);
        self.ended()
    }

    fn killed(mut self) {
        self.kill().unwrap();
        self.wait().unwrap();
    }
}

/// Sends a signal to a program.
pub fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}
