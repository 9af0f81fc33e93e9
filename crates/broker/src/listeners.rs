//! Every port a throwaway node listens on, and the configuration that ties each to loopback.

use std::{
    fs::File,
    io::{self, Read},
    net::TcpListener,
};

use serde::{Deserialize, Serialize};

/// Ports of one node. All on 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub(crate) amqp: u16,
    pub(crate) distribution: u16,
    pub(crate) epmd: u16,
    /// Used when the management plugin is on.
    pub(crate) management: u16,
}

impl Ports {
    /// Ports that nobody listens on now. All are held until the last is known, so they differ.
    pub(crate) fn free() -> io::Result<Self> {
        let mut random = File::open("/dev/urandom")?;
        let held = [(); 4].map(|()| free_port(&mut random));
        let mut ports = [0; 4];
        for (port, listener) in ports.iter_mut().zip(held) {
            *port = listener?.local_addr()?.port();
        }
        let [amqp, distribution, epmd, management] = ports;
        Ok(Self { amqp, distribution, epmd, management })
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

/// A plugin that listens, the plugins that bring it along, and its lines in `rabbitmq.conf`.
struct Listening {
    plugin: &'static str,
    brought_by: &'static [&'static str],
    config: fn(Ports) -> String,
}

impl Listening {
    fn is_on(&self, plugins: &[String]) -> bool {
        plugins.iter().any(|name| name == self.plugin || self.brought_by.contains(&name.as_str()))
    }
}

const LISTENING: &[Listening] = &[
    Listening {
        plugin: "rabbitmq_management",
        brought_by: &[
            "rabbitmq_top",
            "rabbitmq_tracing",
            "rabbitmq_shovel_management",
            "rabbitmq_federation_management",
            "rabbitmq_stream_management",
        ],
        config: |ports| {
            format!("management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {}\n", ports.management)
        },
    },
    Listening {
        plugin: "rabbitmq_prometheus",
        brought_by: &[],
        config: |_| "prometheus.tcp.ip = 127.0.0.1\nprometheus.tcp.port = 0\n".to_owned(),
    },
    Listening {
        plugin: "rabbitmq_stream",
        brought_by: &["rabbitmq_stream_management"],
        config: |_| "stream.listeners.tcp.1 = 127.0.0.1:0\n".to_owned(),
    },
    Listening {
        plugin: "rabbitmq_mqtt",
        brought_by: &["rabbitmq_web_mqtt"],
        config: |_| "mqtt.listeners.tcp.1 = 127.0.0.1:0\n".to_owned(),
    },
    Listening {
        plugin: "rabbitmq_stomp",
        brought_by: &["rabbitmq_web_stomp"],
        config: |_| "stomp.listeners.tcp.1 = 127.0.0.1:0\n".to_owned(),
    },
    Listening {
        plugin: "rabbitmq_web_mqtt",
        brought_by: &[],
        config: |_| "web_mqtt.tcp.ip = 127.0.0.1\nweb_mqtt.tcp.port = 0\n".to_owned(),
    },
    Listening {
        plugin: "rabbitmq_web_stomp",
        brought_by: &[],
        config: |_| "web_stomp.tcp.ip = 127.0.0.1\nweb_stomp.tcp.port = 0\n".to_owned(),
    },
];

/// The management plugin is on, by itself or brought along.
pub(crate) fn has_management(plugins: &[String]) -> bool {
    LISTENING[0].is_on(plugins)
}

/// The lines of `rabbitmq.conf` that keep AMQP and the given plugins on loopback.
pub(crate) fn loopback_config(ports: Ports, plugins: &[String]) -> String {
    let amqp = format!("listeners.tcp.1 = 127.0.0.1:{}\n", ports.amqp);
    LISTENING
        .iter()
        .filter(|entry| entry.is_on(plugins))
        .fold(amqp, |config, entry| config + &(entry.config)(ports))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: Ports = Ports { amqp: 1, distribution: 2, epmd: 3, management: 4 };

    fn check(plugins: &[&str], expected: &str) {
        let plugins: Vec<String> = plugins.iter().map(ToString::to_string).collect();
        assert_eq!(loopback_config(PORTS, &plugins), expected);
    }

    #[test]
    fn amqp_alone() {
        check(&[], "listeners.tcp.1 = 127.0.0.1:1\n");
    }

    #[test]
    fn a_plugin_that_brings_others_along() {
        check(
            &["rabbitmq_stream_management"],
            "listeners.tcp.1 = 127.0.0.1:1\n\
             management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = 4\n\
             stream.listeners.tcp.1 = 127.0.0.1:0\n",
        );
    }

    #[test]
    fn free_ports_differ() {
        let ports = Ports::free().unwrap();
        let mut all = [ports.amqp, ports.distribution, ports.epmd, ports.management];
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
    }
}
