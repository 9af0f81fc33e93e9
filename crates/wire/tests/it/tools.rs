//! External programs that the tests run: tcpdump, tshark and its companions, tcptrace.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Reports that a test could not run, past the test program's capture of output; `make test` counts such lines.
pub(crate) fn not_run(test: &str, reason: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "\nnot run: {test}: {reason}");
}

/// Returns a message about the first of these programs that is not installed.
pub(crate) fn missing(tools: &[&str]) -> Option<String> {
    let missing = tools.iter().find(|tool| path_of(tool).is_none())?;
    Some(format!("{missing} is not installed (scripts/setup.sh)"))
}

/// Returns the path of a program. Some programs are only in root's directories.
fn path_of(tool: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    directories.map(|directory| directory.join(tool)).find(|file| file.is_file())
}

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
