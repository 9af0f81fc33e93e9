//! `rabbitscope serve`: the runs and experiments below a directory, in a browser.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use rabbitscope_http::{ListenError, ListenOptions, Listener};
use rabbitscope_terminal::output;

use crate::{exit::Exit, interrupt};

/// Show the runs and experiments below a directory in a browser, until Ctrl-C
///
/// Only browsers on this machine can open the printed address, which is secret. Nothing is changed.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Directory with run directories, at any depth up to 6
    directory: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value = "0", value_parser = port)]
    port: u16,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let stop = interrupt::watch()?;
        let listener = listen(self.port)?;
        rabbitscope_serve::serve(&self.directory, listener, &stop, |url| {
            output::note(&format!("open {url}"));
        })?;
        Ok(Exit::Done)
    }
}

/// Listens on this machine only.
pub(super) fn listen(port: u16) -> Result<Listener, ListenError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Listener::bind(ListenOptions { address, auth_file: None, auth_option: "", hosts: Vec::new() })
}

/// Parses a port.
pub(super) fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "must be a number from 0 to 65535".to_owned())
}
