//! External programs that the tests run: tcpdump, tshark and its companions, tcptrace.

use std::{
    path::Path,
    process::{Command, Output},
};

pub(crate) use rabbitscope_testing::{missing_program as missing, not_run, path_of};

/// Returns a command that is not started yet. `arguments` are separated by spaces and precede `files`.
pub(crate) fn command(tool: &str, arguments: &str, files: &[&Path]) -> Command {
    let mut command = Command::new(path_of(tool).unwrap());
    command.args(arguments.split_whitespace()).args(files).env("LC_ALL", "C").env("TZ", "UTC");
    command
}

/// Returns the output of a program, which must succeed.
#[track_caller]
pub(crate) fn output(tool: &str, arguments: &str, files: &[&Path]) -> String {
    let Output { status, stdout, stderr } = command(tool, arguments, files).output().unwrap();
    assert!(status.success(), "{tool}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}
