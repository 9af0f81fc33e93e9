//! One throwaway node: started, asked, stopped.

use std::{
    fs,
    io::Write,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_data::scenario::ThrowawayBroker;
use serde::{Deserialize, Serialize};

use crate::{
    BrokerError, Installation, directory,
    guard::{self, Guard, Life},
    listeners::Ports,
    processes,
    registry::Registry,
};

const BOOT_LIMIT: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(100);
const LOG_LINES: usize = 20;

/// Log handlers write with a delay of seconds, and the node is killed.
const FLUSH_LOGS: &str = "[catch Module:filesync(Id) || \
     #{id := Id, module := Module} <- logger:get_handler_config(), \
     erlang:function_exported(Module, filesync, 1)]";

/// A node that runs, whoever started it. Kept as `node.json` in its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Node {
    /// What `broker stop` knows it by.
    pub name: String,
    /// Pid of its `beam.smp`.
    pub pid: u32,
    /// Where its configuration and data are; goes away with it.
    pub directory: PathBuf,
    /// Where it logs.
    pub log: PathBuf,
    /// Goes on running after the command that started it.
    pub detached: bool,
    /// The management plugin is on and answers on [`Node::management_port`].
    pub management: bool,
    ports: Ports,
}

impl Node {
    /// Where to connect, credentials included: the well-known `guest`, who may only come from this
    /// machine.
    pub fn uri(&self) -> String {
        format!("amqp://guest:guest@{}/%2f", self.address())
    }

    /// Address and port of AMQP.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.amqp))
    }

    /// Port of the HTTP interface, when the management plugin is on.
    pub fn management_port(&self) -> Option<u16> {
        self.management.then_some(self.ports.management)
    }

    /// The Erlang node name, `rabbitscope-1a2b@localhost`.
    pub fn node_name(&self) -> String {
        format!("{}@localhost", self.name)
    }

    /// True while the node's process exists.
    pub fn is_running(&self) -> bool {
        processes::is_of(&self.directory, self.pid)
    }

    /// The home directory with the node's cookie, and the port of its port mapper: what another
    /// Erlang node needs to talk to it.
    pub fn distribution(&self) -> (PathBuf, u16) {
        (self.directory.join("home"), self.ports.epmd)
    }

    /// The value of Erlang expressions, as the node itself prints it: `rabbit:is_running().` gives
    /// `true`, `self()` gives `<0.1234.0>`.
    /// What is asked is ASCII, what comes back at most 32 KiB of text.
    pub fn eval(&self, expression: &str) -> Result<String, BrokerError> {
        self.eval_by(&Installation::find()?, expression)
    }

    /// `erl_call` has its own way of printing; hexadecimal digits come through unchanged.
    fn eval_by(
        &self,
        installation: &Installation,
        expression: &str,
    ) -> Result<String, BrokerError> {
        let own = expression.trim().trim_end_matches('.');
        let printed = format!(
            "binary_to_list(binary:encode_hex(unicode:characters_to_binary(\
             io_lib:format(\"~0tp\", [begin {own} end]))))."
        );
        let answer = self.erl_call(installation, &printed)?;
        let hex = answer.trim().strip_prefix("{ok, \"").and_then(|rest| rest.strip_suffix("\"}"));
        hex.and_then(text_of_hex).ok_or_else(|| BrokerError::Eval {
            expression: expression.to_owned(),
            answer: answer.trim().to_owned(),
        })
    }

    /// Ends the node, whoever started it, and removes its directory.
    pub fn end(&self) {
        guard::end_by_force(&self.directory);
    }

    fn erl_call(
        &self,
        installation: &Installation,
        expression: &str,
    ) -> Result<String, BrokerError> {
        let program = &installation.erl_call;
        let (home, epmd_port) = self.distribution();
        let mut child = Command::new(program)
            .args(["-timeout", "20", "-sname", &self.node_name(), "-e"])
            .env_clear()
            .env("HOME", home)
            .env("ERL_EPMD_PORT", epmd_port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(BrokerError::io("start", program))?;
        let mut input = child.stdin.take().expect("standard input was piped");
        // Should it end before it has read all, its output says why.
        let _ = writeln!(input, "{expression}");
        drop(input);
        let output = child.wait_with_output().map_err(BrokerError::io("wait for", program))?;
        Ok([output.stdout, output.stderr]
            .map(|it| String::from_utf8_lossy(&it).into_owned())
            .concat())
    }
}

/// A node that lives as long as this value, whatever ends it.
#[derive(Debug)]
pub struct Broker {
    node: Node,
    guard: Guard,
}

impl Broker {
    /// Starts a node and returns when it serves clients. It logs to `log`.
    ///
    /// # Example
    /// ```no_run
    /// # use rabbitscope_broker::Broker;
    /// let broker = Broker::start(&Default::default(), "broker.log".as_ref())?;
    /// assert_eq!(broker.eval("rabbit:is_running()")?, "true");
    /// # Ok::<(), rabbitscope_broker::BrokerError>(())
    /// ```
    pub fn start(spec: &ThrowawayBroker, log: &Path) -> Result<Self, BrokerError> {
        let log = std::path::absolute(log).map_err(BrokerError::io("resolve", log))?;
        Self::launch(spec, Some(log), Life::Attached)
    }

    /// Starts a node that goes on running until [`Node::end`]. It logs into its own directory.
    pub fn start_detached(spec: &ThrowawayBroker) -> Result<Node, BrokerError> {
        Self::launch(spec, None, Life::Detached).map(|broker| broker.node.clone())
    }

    fn launch(
        spec: &ThrowawayBroker,
        log: Option<PathBuf>,
        life: Life,
    ) -> Result<Self, BrokerError> {
        let installation = Installation::find()?;
        let registry = Registry::open()?;
        let name = format!("rabbitscope-{}", &directory::random_hex()?[..6]);
        let own = registry.directory_of(&name);
        let log = log.unwrap_or_else(|| own.join("broker.log"));
        let ports = Ports::free().map_err(BrokerError::io("find free ports for", &own))?;
        let node_name = format!("{name}@localhost");
        directory::prepare(&own, spec, ports)?;
        let environment = directory::environment(&own, &node_name, spec, ports, &log);
        let guard = Guard::start(&installation, &own, ports.epmd, &environment, life)?;
        let node = Node {
            name,
            pid: guard.node_pid,
            directory: own,
            log,
            detached: life == Life::Detached,
            management: crate::listeners::has_management(&spec.plugins),
            ports,
        };
        let mut broker = Self { node, guard };
        let ready =
            broker.wait_until_ready(&installation).and_then(|()| registry.save(&broker.node));
        if let Err(error) = ready {
            broker.stop_now();
            return Err(error);
        }
        Ok(broker)
    }

    /// Kills the node's virtual machine, as a crash would; returns when it is gone. Its data stay.
    pub fn kill(&self) {
        guard::kill(self.node.pid);
        while self.node.is_running() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Starts a node that was killed again: same name, same ports, same data. Returns when it
    /// serves clients.
    pub fn start_again(&mut self) -> Result<(), BrokerError> {
        self.node.pid = self.guard.start_again()?;
        self.wait_until_ready(&Installation::find()?)?;
        Registry::open()?.save(&self.node)
    }

    /// Ends node, port mapper and directory. The same as dropping it.
    pub fn stop(self) {
        drop(self);
    }

    fn stop_now(&mut self) {
        if self.node.detached {
            self.node.end();
        } else if self.node.is_running() {
            // A node that cannot do this any more is ended all the same.
            let _ = self.node.eval(FLUSH_LOGS);
        }
        self.guard.stop(&self.node.directory);
    }

    fn wait_until_ready(&self, installation: &Installation) -> Result<(), BrokerError> {
        let started = Instant::now();
        while !self.is_ready(installation) {
            if !self.node.is_running() {
                return Err(BrokerError::Died { log: self.last_words() });
            }
            if started.elapsed() > BOOT_LIMIT {
                let waited = started.elapsed();
                return Err(BrokerError::NotReady { waited, log: self.last_words() });
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// The node says that all its boot steps are done, and its AMQP port accepts.
    fn is_ready(&self, installation: &Installation) -> bool {
        if TcpStream::connect(self.node.address()).is_err() {
            return false;
        }
        // It cannot be asked yet, or says that it is not there yet.
        self.node.eval_by(installation, "rabbit:await_startup()").is_ok_and(|it| it == "ok")
    }

    /// What the node said: the first errors in its log or on its console, else the end of both.
    fn last_words(&self) -> String {
        let text = [&self.node.log, &self.node.directory.join("console.log")]
            .map(|file| lossy_text(file))
            .concat();
        let errors: Vec<&str> =
            text.lines().filter(|line| line.contains("[error]")).take(LOG_LINES).collect();
        let all: Vec<&str> = text.lines().collect();
        let said =
            if errors.is_empty() { &all[all.len().saturating_sub(LOG_LINES)..] } else { &errors };
        if said.is_empty() {
            let pid = self.node.pid;
            return format!("(it logged nothing, process {pid} {})", processes::fate(pid));
        }
        said.join("\n")
    }
}

/// The text whose UTF-8 bytes are written as pairs of hexadecimal digits.
fn text_of_hex(hex: &str) -> Option<String> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    let (pairs, []) = digits.as_deref()?.as_chunks::<2>() else { return None };
    String::from_utf8(pairs.iter().map(|[high, low]| high << 4 | low).collect()).ok()
}

fn lossy_text(file: &Path) -> String {
    fs::read(file)
        .map_or_else(|_| String::new(), |text| String::from_utf8_lossy(&text).into_owned())
}

impl std::ops::Deref for Broker {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if !self.node.detached {
            self.stop_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text_of_hex;

    #[test]
    fn hexadecimal_digits() {
        fn check(hex: &str, expected: Option<&str>) {
            assert_eq!(text_of_hex(hex).as_deref(), expected, "{hex}");
        }
        check("", Some(""));
        check("74727565", Some("true"));
        check("C3A9", Some("é"));
        check("7", None);
        check("7x", None);
        check("FF", None);
    }
}
