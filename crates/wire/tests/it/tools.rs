//! Programs of others that the tests ask: tcpdump, tshark and its companions, tcptrace.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Says that a test could not run, past the capture of the test program; `make test` counts such lines.
pub(crate) fn not_run(test: &str, reason: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "\nnot run: {test}: {reason}");
}

/// The first of these programs that is not installed.
pub(crate) fn missing(tools: &[&str]) -> Option<String> {
    let missing = tools.iter().find(|tool| path_of(tool).is_none())?;
    Some(format!("{missing} is not installed (scripts/setup.sh)"))
}

/// Where a program is. Some are where only root looks.
fn path_of(tool: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    directories.map(|directory| directory.join(tool)).find(|file| file.is_file())
}

/// A program, not started yet, with its arguments separated by spaces; then those of `files`.
pub(crate) fn command(tool: &str, arguments: &str, files: &[&Path]) -> Command {
    let mut command = Command::new(path_of(tool).unwrap());
    command.args(arguments.split_whitespace()).args(files).env("LC_ALL", "C").env("TZ", "UTC");
    command
}

/// What a program prints that ends well.
#[track_caller]
pub(crate) fn output(tool: &str, arguments: &str, files: &[&Path]) -> String {
    let Output { status, stdout, stderr } = command(tool, arguments, files).output().unwrap();
    assert!(status.success(), "{tool}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}
