//! URIs of brokers in other protocols, as URIs of AMQP 0-9-1, by which a scenario declares queues.

/// Schemes of other protocols: the scheme of AMQP 0-9-1, the parameter for the port, and the usual port.
const SCHEMES: [(&str, &str, &str, &str); 7] = [
    ("rabbitmq-stream", "amqp", "stream_port", "5552"),
    ("rabbitmq-stream+tls", "amqps", "stream_port", "5551"),
    ("mqtt", "amqp", "mqtt_port", "1883"),
    ("tcp", "amqp", "mqtt_port", "1883"),
    ("mqtts", "amqps", "mqtt_port", "8883"),
    ("ssl", "amqps", "mqtt_port", "8883"),
    ("tls", "amqps", "mqtt_port", "8883"),
];

/// Returns the URI of AMQP 0-9-1 on the same host, with the port of the other protocol as a parameter. A URI of AMQP
/// stays as it is.
pub(super) fn amqp_uri(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else { return uri.to_owned() };
    let known = SCHEMES.iter().find(|(known, ..)| scheme.eq_ignore_ascii_case(known));
    let Some((_, amqp, parameter, usual)) = known else { return uri.to_owned() };
    let rest = rest.split('?').next().unwrap_or(rest);
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    let path = if path == "/" { "" } else { &path };
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (format!("{user}@"), host),
        None => (String::new(), authority),
    };
    let (host, port) = match host.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some((host, port)) => (host, Some(port)),
        None => (host, None),
    };
    let host = if host.is_empty() { "localhost" } else { host };
    let port = port.filter(|port| port != usual);
    let query = port.map_or(String::new(), |port| format!("?{parameter}={port}"));
    format!("{amqp}://{user}{host}{path}{query}")
}

/// Returns a URI with another parameter.
pub(super) fn with_parameter(uri: &str, parameter: &str) -> String {
    let sign = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{sign}{parameter}")
}

/// Returns a URI without its password.
pub(super) fn without_password(uri: &str) -> String {
    let start = uri.find("://").map_or(0, |scheme| scheme + 3);
    let Some(end) = uri.rfind('@').filter(|end| *end > start) else { return uri.to_owned() };
    let user = uri[start..end].split(':').next().unwrap_or_default();
    format!("{}{user}{}", &uri[..start], &uri[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_that_of_the_other_protocol() {
        let pairs = [
            ("rabbitmq-stream://localhost:5552", "amqp://localhost"),
            ("rabbitmq-stream://me:secret@h:6000/%2f", "amqp://me:secret@h/%2f?stream_port=6000"),
            ("rabbitmq-stream+tls://[::1]:5551/", "amqps://[::1]"),
            ("mqtt://h:1884", "amqp://h?mqtt_port=1884"),
            ("mqtts://h", "amqps://h"),
            ("amqp://h:5673/x?heartbeat=5", "amqp://h:5673/x?heartbeat=5"),
        ];
        for (uri, expected) in pairs {
            assert_eq!(amqp_uri(uri), expected);
        }
        assert_eq!(with_parameter("amqp://h?a=1", "b=2"), "amqp://h?a=1&b=2");
    }
}
