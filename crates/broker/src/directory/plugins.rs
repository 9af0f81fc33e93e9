//! Plugins that listen, and the configuration keys of their listeners.

/// The form of a plugin's listener keys in `rabbitmq.conf`.
#[derive(Clone, Copy)]
pub(super) enum Keys {
    /// `PREFIX.ip` and `PREFIX.port`.
    Apart,
    /// `PREFIX.1 = ADDRESS:PORT`.
    Together,
}

/// Plugins that listen, with the prefix and the form of their keys. The management plugin comes first.
pub(super) const LISTENING: [(&str, &str, Keys); 7] = [
    ("rabbitmq_management", "management.tcp", Keys::Apart),
    ("rabbitmq_prometheus", "prometheus.tcp", Keys::Apart),
    ("rabbitmq_stream", "stream.listeners.tcp", Keys::Together),
    ("rabbitmq_mqtt", "mqtt.listeners.tcp", Keys::Together),
    ("rabbitmq_stomp", "stomp.listeners.tcp", Keys::Together),
    ("rabbitmq_web_mqtt", "web_mqtt.tcp", Keys::Apart),
    ("rabbitmq_web_stomp", "web_stomp.tcp", Keys::Apart),
];
