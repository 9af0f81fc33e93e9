//! Evaluates an expression on a node, as a hidden node that connects to the node's own port.
//!
//! The program asks no port mapper, because any user of the machine may register a name there. Before the program
//! proves that it knows the cookie, the kernel proves that the other end is a socket of the node's process.

use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{
    ConnectOptions, Connection, CookieSource, ErlangError, ExpectedNode, NodeName, Port, Term,
};
use rabbitscope_machine::sockets;

use crate::{BrokerError, Installation, distribution_tls};

/// Timeout of one expression. The longest expressions compile modules.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A node and the way to reach it.
pub(crate) struct Asked<'a> {
    pub(crate) name: &'a str,
    pub(crate) pid: u32,
    /// The home directory with the cookie.
    pub(crate) home: &'a Path,
    /// The address of the node's distribution listener.
    pub(crate) address: SocketAddr,
    /// Arguments of the VM that make its distribution use TLS; empty without TLS.
    pub(crate) tls: &'a [String],
}

/// Returns the value of the expression as text, or the error with the node's answer.
pub(crate) fn evaluate(
    node: &Asked<'_>,
    installation: &Installation,
    expression: &str,
) -> Result<String, BrokerError> {
    let refused = |answer: String| BrokerError::Eval { expression: expression.to_owned(), answer };
    let options = connect_options(node, installation)?;
    let printed =
        format!("unicode:characters_to_binary(io_lib:format(\"~0tp\", [begin {expression} end])).");
    let answer = ask(&options, &printed).map_err(|error| refused(error.to_string()))?;
    let bytes = answer.as_binary().ok_or_else(|| refused(answer.to_string()))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn ask(options: &ConnectOptions, expression: &str) -> Result<Term, ErlangError> {
    let began = Instant::now();
    let connection = Connection::open(options)?;
    connection.evaluate(expression, &[], TIMEOUT.saturating_sub(began.elapsed()))
}

fn connect_options(
    node: &Asked<'_>,
    installation: &Installation,
) -> Result<ConnectOptions, BrokerError> {
    let name = NodeName::parse(node.name).expect("our own names are names of nodes");
    Ok(ConnectOptions {
        cookie: CookieSource::File(node.home.join(".erlang.cookie")),
        port: Port::At(node.address),
        tls: distribution_tls::files(node.tls, installation)?,
        within: TIMEOUT,
        verify: Some(Arc::new(expected(node.pid))),
        ..ConnectOptions::new(name)
    })
}

/// The expected peer: the node with this pid, which belongs to this user.
fn expected(pid: u32) -> ExpectedNode {
    let holds = |pid: u32, inode: u64| Ok(sockets::holds_any(pid, &[inode]));
    ExpectedNode { pid: Some(pid), cookie_is_chosen: false, holds }
}
