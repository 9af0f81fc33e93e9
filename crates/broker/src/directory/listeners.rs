//! All ports of a throwaway node, and the configuration that binds each to loopback.
//!
//! Which plugins bring which others along differs from release to release. So the listener of every
//! plugin that the installation has gets its lines, whether the plugin is on or not. What they miss
//! `exposure.rs` finds.

use std::{
    fs::File,
    io::{self, Read},
    net::TcpListener,
};

use serde::{Deserialize, Serialize};

/// Ports of one node. All on 127.0.0.1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub(crate) amqp: u16,
    pub(crate) distribution: u16,
    /// Of the port mapper, which the nodes of a cluster share.
    pub(crate) epmd: u16,
    /// Of each of [`LISTENING`], in its order. RabbitMQ knows a listener by its port: with 0, which
    /// lets the kernel choose, the second one is taken for the first.
    plugins: [u16; LISTENING.len()],
}

impl Ports {
    /// Ports that nobody listens on now, of nodes that share a port mapper. All are held until the last is known, so
    /// they differ.
    pub(crate) fn free(nodes: usize) -> io::Result<Vec<Self>> {
        let mut random = File::open("/dev/urandom")?;
        let mut held = Vec::new();
        let mut take = || -> io::Result<u16> {
            let listener = free_port(&mut random)?;
            let port = listener.local_addr()?.port();
            held.push(listener);
            Ok(port)
        };
        let epmd = take()?;
        let mut ports_of_node = || -> io::Result<Self> {
            let (amqp, distribution) = (take()?, take()?);
            let mut plugins = [0; LISTENING.len()];
            for port in &mut plugins {
                *port = take()?;
            }
            Ok(Self { amqp, distribution, epmd, plugins })
        };
        (0..nodes).map(|_| ports_of_node()).collect()
    }

    /// Used when the management plugin is on.
    pub(crate) fn management(&self) -> u16 {
        self.plugins[0]
    }
}

/// Below the ports that the kernel gives to outgoing connections, which could take one before the
/// node does; at random, because two nodes that start together would try the same.
const RANGE: (u16, u16) = (10_000, 32_000);

fn free_port(random: &mut impl Read) -> io::Result<TcpListener> {
    loop {
        let mut bytes = [0; 2];
        random.read_exact(&mut bytes)?;
        let (first, end) = RANGE;
        let port = first + u16::from_le_bytes(bytes) % (end - first);
        match TcpListener::bind(("127.0.0.1", port)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            bound => return bound,
        }
    }
}

/// The form of a plugin's listener in `rabbitmq.conf`.
#[derive(Clone, Copy)]
enum Keys {
    /// `PREFIX.ip` and `PREFIX.port`.
    Apart,
    /// `PREFIX.1 = ADDRESS:PORT`.
    Together,
}

/// Plugins that listen, and what their keys start with. The management plugin is the first.
const LISTENING: [(&str, &str, Keys); 7] = [
    ("rabbitmq_management", "management.tcp", Keys::Apart),
    ("rabbitmq_prometheus", "prometheus.tcp", Keys::Apart),
    ("rabbitmq_stream", "stream.listeners.tcp", Keys::Together),
    ("rabbitmq_mqtt", "mqtt.listeners.tcp", Keys::Together),
    ("rabbitmq_stomp", "stomp.listeners.tcp", Keys::Together),
    ("rabbitmq_web_mqtt", "web_mqtt.tcp", Keys::Apart),
    ("rabbitmq_web_stomp", "web_stomp.tcp", Keys::Apart),
];

/// The lines of `rabbitmq.conf` that keep AMQP and the plugins on loopback. A key of a plugin that is
/// not there would be refused: `has` says which are.
pub(crate) fn loopback_config(ports: &Ports, has: impl Fn(&str) -> bool) -> String {
    let amqp = format!("listeners.tcp.1 = 127.0.0.1:{}\n", ports.amqp);
    let plugins = LISTENING.iter().zip(ports.plugins).filter(|((plugin, ..), _)| has(plugin));
    plugins.fold(amqp, |config, ((_, prefix, keys), port)| {
        config
            + &match keys {
                Keys::Apart => format!("{prefix}.ip = 127.0.0.1\n{prefix}.port = {port}\n"),
                Keys::Together => format!("{prefix}.1 = 127.0.0.1:{port}\n"),
            }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: Ports =
        Ports { amqp: 1, distribution: 2, epmd: 3, plugins: [4, 5, 6, 7, 8, 9, 10] };

    #[track_caller]
    fn check(installed: &[&str], expected: &str) {
        assert_eq!(loopback_config(&PORTS, |plugin| installed.contains(&plugin)), expected);
    }

    #[test]
    fn what_is_installed_gets_its_lines() {
        check(&[], "listeners.tcp.1 = 127.0.0.1:1\n");
        check(
            &["rabbitmq_management", "rabbitmq_stream"],
            "listeners.tcp.1 = 127.0.0.1:1\n\
             management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = 4\n\
             stream.listeners.tcp.1 = 127.0.0.1:6\n",
        );
    }

    #[test]
    fn free_ports_differ() {
        let nodes = Ports::free(3).unwrap();
        let own = |node: &Ports| [&[node.amqp, node.distribution][..], &node.plugins[..]].concat();
        let mut all: Vec<u16> = nodes.iter().flat_map(own).chain([nodes[0].epmd]).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
        assert!(nodes.iter().all(|node| node.epmd == nodes[0].epmd) && nodes.len() == 3);
    }
}
