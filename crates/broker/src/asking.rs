//! Evaluates an expression on the node: with `erl_call`, in milliseconds, or with an `erl` of its own if the node's
//! distribution uses TLS, which `erl_call` does not support.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{BrokerError, install::Installation};

/// The variable with the expression; `erl` without a terminal has no standard input.
const ASKED: &str = "RABBITSCOPE_ASKED";
const NODE: &str = "RABBITSCOPE_NODE";

/// The program for `erl`, which prints the value in the form of `erl_call`.
const PROGRAM: &str = "{ok, Tokens, _} = erl_scan:string(os:getenv(\"RABBITSCOPE_ASKED\")), \
    {ok, Forms} = erl_parse:parse_exprs(Tokens), \
    Node = list_to_atom(os:getenv(\"RABBITSCOPE_NODE\")), \
    case rpc:call(Node, erl_eval, exprs, [Forms, []], 20000) of \
        {value, Value, _} -> io:format(\"{ok, ~0tp}\", [Value]); \
        Other -> io:format(\"{error, ~0tp}\", [Other]) \
    end, halt().";

/// The node, and how to connect to it.
pub(crate) struct NodeAddress<'a> {
    pub(crate) node: &'a str,
    /// The home directory with the cookie.
    pub(crate) home: &'a Path,
    pub(crate) epmd_port: u16,
    /// Arguments of the VM that make its distribution use TLS; empty without TLS.
    pub(crate) tls: &'a [String],
}

impl NodeAddress<'_> {
    /// The printed value `{ok, VALUE}`, or the error.
    pub(crate) fn value(
        &self,
        installation: &Installation,
        expression: &str,
    ) -> Result<String, BrokerError> {
        if self.tls.is_empty() {
            self.by_erl_call(installation, expression)
        } else {
            self.by_erl(installation, expression)
        }
    }

    fn by_erl_call(
        &self,
        installation: &Installation,
        expression: &str,
    ) -> Result<String, BrokerError> {
        let program = &installation.erl_call;
        let mut child = self
            .command(program)
            .args(["-h", &own_name(), "-timeout", "20", "-sname", self.node, "-e"])
            .stdin(Stdio::piped())
            .spawn()
            .map_err(BrokerError::io("start", program))?;
        let mut input = child.stdin.take().expect("standard input was piped");
        // Should it end before it has read all, its output says why.
        let _ = writeln!(input, "{expression}");
        drop(input);
        let output = child.wait_with_output().map_err(BrokerError::io("wait for", program))?;
        Ok(lossy(&output.stdout) + &lossy(&output.stderr))
    }

    /// The port of this node, too, is bound to the loopback interface only.
    fn by_erl(&self, installation: &Installation, expression: &str) -> Result<String, BrokerError> {
        let own = format!("{}@localhost", own_name());
        let program = &installation.erl;
        let output = self
            .command(program)
            .args(["-noinput", "-hidden", "-start_epmd", "false", "-sname", &own])
            .args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}"])
            .args(self.tls)
            .args(["-eval", PROGRAM])
            .env(ASKED, expression)
            .env(NODE, self.node)
            .stdin(Stdio::null())
            .output()
            .map_err(BrokerError::io("start", program))?;
        Ok(lossy(&output.stdout) + &lossy(&output.stderr))
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home)
            .env("PATH", "/usr/bin:/bin")
            .env("ERL_EPMD_PORT", self.epmd_port.to_string())
            // A question that fails leaves no file where we happen to be.
            .env("ERL_CRASH_DUMP_SECONDS", "0")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// A node refuses a second connection of the same name, also while it has not noticed that the first one is closed; by
/// default `erl_call` has the same name each time. Names come again, since the node keeps each as an atom.
fn own_name() -> String {
    const NAMES: u32 = 1000;
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) % NAMES;
    format!("rabbitscope-asks-{}-{number}", std::process::id())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Those of the VM's arguments that make its distribution use TLS.
pub(crate) fn tls_arguments(erl_args: &str) -> Vec<String> {
    let mut wanted = Vec::new();
    let mut is_wanted = false;
    for word in erl_args.split_whitespace() {
        if word.starts_with('-') {
            is_wanted = word == "-proto_dist" || word.starts_with("-ssl_dist_opt");
        }
        if is_wanted {
            wanted.push(word.trim_matches(['"', '\'']).to_owned());
        }
    }
    if wanted.iter().any(|word| word == "inet_tls" || word == "inet6_tls") {
        wanted
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_of_the_arguments_is_for_tls() {
        fn check(erl_args: &str, expected: &str) {
            assert_eq!(tls_arguments(erl_args).join(" "), expected, "{erl_args}");
        }
        let tls = "-proto_dist inet_tls -ssl_dist_optfile /etc/tls.config";
        check(tls, tls);
        check(&format!("+S 2 {tls} -kernel net_ticktime 9"), tls);
        check(
            "-ssl_dist_opt server_certfile a.pem -proto_dist inet_tls",
            "-ssl_dist_opt server_certfile a.pem -proto_dist inet_tls",
        );
        check("-proto_dist inet_tcp", "");
        check("", "");
    }
}
