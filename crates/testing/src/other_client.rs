//! Clients of other projects: scripts beside the tests, which speak to a broker by a package of another project.

use std::{
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
};

use rabbitscope_broker::Broker;
use serde_json::Value;

use crate::{
    Workbench, brokers::port_of, conditions::not_run, machine::environment, workbench::repository,
};

/// A client of another project, for one listener of a broker. Its script gets the port and the words of each call, and
/// the login in its environment. It prints JSON at its end.
pub struct OtherClient<'a> {
    bench: &'a Workbench,
    python: PathBuf,
    script: PathBuf,
    broker: &'a Broker,
    port: u16,
}

impl<'a> OtherClient<'a> {
    /// Creates a client that an interpreter runs. `script` lies below the tests of the program.
    pub fn new(
        bench: &'a Workbench,
        python: PathBuf,
        script: &str,
        (broker, listener): (&'a Broker, &str),
    ) -> Self {
        let script = repository("crates/rabbitscope/tests/it").join(script);
        Self { bench, python, script, broker, port: port_of(broker, listener) }
    }

    /// Creates a client with a package of the Python Package Index; `None` with a note if it cannot be had.
    pub fn of_package(
        bench: &'a Workbench,
        package: &str,
        script: &str,
        listener: (&'a Broker, &str),
    ) -> Option<Self> {
        match environment(&bench.path("python"), package) {
            Ok(python) => Some(Self::new(bench, python, script, listener)),
            Err(reason) => {
                not_run(&reason);
                None
            }
        }
    }

    /// Starts the client.
    pub fn start(&self, words: &[&str]) -> RunningClient {
        let (user, password) = self.broker.login();
        let mut command = Command::new("timeout");
        command.arg("100").arg(&self.python).arg(&self.script).arg(self.port.to_string());
        command.args(words).env("BROKER_USER", user).env("BROKER_PASSWORD", password);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).current_dir(&self.bench.directory);
        let mut client = command.spawn().unwrap();
        let output = BufReader::new(client.stdout.take().unwrap());
        RunningClient { client, output }
    }

    /// Runs the client to its end. Returns its output.
    pub fn run(&self, words: &[&str]) -> Value {
        self.start(words).ended()
    }
}

/// A client of another project that runs.
#[derive(Debug)]
pub struct RunningClient {
    client: Child,
    output: BufReader<ChildStdout>,
}

impl RunningClient {
    /// Waits for a line of its output.
    pub fn says(&mut self, expected: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), expected);
    }

    /// Waits for its end. Returns the rest of its output.
    pub fn ended(mut self) -> Value {
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        assert!(self.client.wait().unwrap().success(), "{said}");
        serde_json::from_str(&said).unwrap()
    }
}
