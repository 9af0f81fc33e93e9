//! Programs that listen.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStderr},
};

use crate::{http, workbench::Workbench};

/// A program that listens, and prints its address on the first line of standard error.
pub struct Served {
    /// The program.
    pub child: Child,
    /// Host and port.
    pub address: String,
    /// Path of the printed address, with a slash at its start.
    pub path: String,
    /// The rest of standard error, kept open.
    pub said: BufReader<ChildStderr>,
}

impl Served {
    /// Starts the program, and returns once it listens.
    pub fn start(bench: &Workbench, arguments: &str) -> Self {
        Self::of(bench.start(arguments))
    }

    /// Waits until a started program listens.
    pub fn of(mut child: Child) -> Self {
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        let (address, path) = address.split_once('/').unwrap_or((address, ""));
        let path = format!("/{}", path.split_whitespace().next().unwrap_or_default());
        Self { address: address.to_owned(), path, child, said }
    }

    /// Requests a path with additional headers, and returns the whole answer.
    #[track_caller]
    pub fn get(&self, path: &str, headers: &str) -> String {
        http::get(&self.address, path, headers)
    }
}
