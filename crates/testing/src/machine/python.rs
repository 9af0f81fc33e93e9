//! Python environments with packages of the Python Package Index.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Debian's own Python, which has Debian's packages.
pub const PYTHON: &str = "/usr/bin/python3";

/// Makes an environment with a package in a directory, and returns its interpreter. Fails with the reason.
pub fn environment(place: &Path, package: &str) -> Result<PathBuf, String> {
    let python = place.join("bin/python");
    succeed(Command::new("timeout").args(["60", PYTHON, "-m", "venv"]).arg(place), package)?;
    let mut install = Command::new("timeout");
    install.arg("60").arg(&python).args(["-m", "pip", "install", "--quiet", package]);
    succeed(&mut install, package)?;
    Ok(python)
}

fn succeed(command: &mut Command, package: &str) -> Result<(), String> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let said = [stdout, stderr].concat();
    let last = String::from_utf8_lossy(&said).trim().lines().last().unwrap_or_default().to_owned();
    if status.success() { Ok(()) } else { Err(format!("{package} cannot be installed: {last}")) }
}
