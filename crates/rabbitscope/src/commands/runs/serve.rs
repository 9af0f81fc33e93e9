//! `rabbitscope serve`: the runs and experiments below a directory, or a running node, in a browser.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use rabbitscope_http::{ListenError, ListenOptions, Listener};
use rabbitscope_terminal::{UsageError, output};

use crate::{
    commands::{arguments::number, check::Subject, inside::NodeArguments},
    exit::Exit,
    interrupt,
};

/// Show the runs and experiments below a directory, or a running node, in a browser, until Ctrl-C
///
/// Only browsers on this machine can open the printed address, which is secret. Nothing is changed. The page of a node
/// shows its limit, findings, rates, queues, clients and stacks as they are now; without a viewer, nothing is observed.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Directory with run directories, at any depth up to 6
    #[arg(
        value_name = "DIRECTORY",
        conflicts_with_all = ["node", "pid", "cookie_file", "dist_port", "tls_ca", "dead_man"]
    )]
    directory: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value = "0", value_parser = port)]
    port: u16,
    /// Process identifier of a node's beam.smp
    #[arg(long, conflicts_with = "node", value_parser = number::<u32>)]
    pid: Option<u32>,
    #[command(flatten)]
    node: NodeArguments,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let is_node = self.pid.is_some() || self.node.is_elsewhere();
        if self.directory.is_none() && !is_node {
            return Err(UsageError("give a directory, --node or --pid".to_owned()).into());
        }
        let stop = interrupt::watch()?;
        let listener = listen(self.port)?;
        let announce = |url: &str| output::note(&format!("open {url}"));
        if let Some(directory) = &self.directory {
            rabbitscope_serve::serve(directory, listener, &stop, announce)?;
            return Ok(Exit::Done);
        }
        let subject = Subject { pid: self.pid, node: &self.node }.noted("shows", "");
        let find = || subject.options(Duration::ZERO);
        rabbitscope_serve::serve_node((&find, self.pid.is_none()), listener, &stop, announce)?;
        Ok(Exit::Done)
    }
}

/// Listens on this machine only.
pub(in crate::commands) fn listen(port: u16) -> Result<Listener, ListenError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Listener::bind(ListenOptions { address, auth_file: None, auth_option: "", hosts: Vec::new() })
}

/// Parses a port.
pub(in crate::commands) fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "must be a number from 0 to 65535".to_owned())
}
