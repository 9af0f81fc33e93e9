//! The configuration that binds each port of a throwaway node to loopback.
//!
//! Which plugins enable which others differs between releases. So every installed plugin that listens gets its lines,
//! enabled or not. `exposure.rs` finds listeners that these lines miss.

use super::{
    plugins::{Keys, LISTENING},
    ports::Ports,
};

/// Lines of `rabbitmq.conf` that keep AMQP and the plugins on loopback. The node would refuse a key of a missing
/// plugin, so `has` tells which plugins are installed.
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
}
