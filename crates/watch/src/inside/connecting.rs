//! The connection to a node: its name, its cookie and its port mapper.

use std::sync::Arc;

use rabbitscope_broker::Registry;
use rabbitscope_erlang::{ConnectOptions, CookieSource, NodeName, Port};
use rabbitscope_inside::{expected_node, in_container};

use crate::config::InsideOptions;

/// Returns the options for a connection to the node `name` with this pid.
pub(super) fn connect_options(
    pid: u32,
    name: &str,
    inside: &InsideOptions,
) -> anyhow::Result<ConnectOptions> {
    // A broker of `rabbitscope broker start` has its own cookie and a known port.
    let running = Registry::open().and_then(|registry| registry.running()).unwrap_or_default();
    let throwaway = running.into_iter().find(|node| node.pid == pid);
    let known = throwaway.map(|node| node.distribution());
    let cookie = match (&inside.cookie_file, &known) {
        (_, Some((home, _))) => CookieSource::File(home.join(".erlang.cookie")),
        (Some(file), None) => CookieSource::File(file.clone()),
        (None, None) => CookieSource::UsualPlaces,
    };
    let expected = expected_node(Some(pid), inside.cookie_file.is_some());
    let options = ConnectOptions {
        cookie,
        port: known.map_or(Port::Mapped(inside.epmd_port), |(_, address)| Port::At(address)),
        verify: Some(Arc::new(expected)),
        ..ConnectOptions::new(NodeName::parse(name)?)
    };
    Ok(in_container(pid, options))
}
