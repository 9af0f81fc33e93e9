//! Users and listeners of a started node. They follow from configuration in several places, which only the node knows
//! completely.

use serde::{Deserialize, Serialize};

use crate::login::Login;

/// A port that the broker serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// RabbitMQ's name of the protocol: `amqp`, `mqtt`, `stream`, `http` (management), `http/prometheus`.
    pub protocol: String,
    /// The port on 127.0.0.1.
    pub port: u16,
}

/// Expression for a node's users and listeners. Its value is `USER PASSWORD PROTOCOL=PORT …`, with names as hexadecimal
/// digits. A password that is not configured as text counts as absent.
pub(crate) const QUESTION: &str = "begin \
    Env = fun(Key) -> {ok, Value} = application:get_env(rabbit, Key), \
        try iolist_to_binary(Value) catch _:_ -> <<>> end end, \
    Hex = fun binary:encode_hex/1, \
    Ports = lists:usort([{element(3, It), element(6, It)} \
        || It <- rabbit_networking:node_listeners(node()), element(3, It) =/= clustering]), \
    binary_to_list(iolist_to_binary([Hex(Env(default_user)), $ , Hex(Env(default_pass)), \
        [[$ , Hex(atom_to_binary(Protocol, utf8)), $=, integer_to_list(Port)] \
         || {Protocol, Port} <- Ports]])) end";

/// The node's answer to [`QUESTION`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NodeDescription {
    pub(crate) login: Login,
    pub(crate) listeners: Vec<Listener>,
}

impl NodeDescription {
    /// Parses the answer to [`QUESTION`].
    pub(crate) fn parse(answer: &str) -> Option<Self> {
        let mut words = answer.trim_matches('"').split(' ');
        let login = Login { user: text(words.next()?)?, password: text(words.next()?)? };
        let listeners = words.map(listener).collect::<Option<_>>()?;
        Some(Self { login, listeners })
    }
}

fn listener(word: &str) -> Option<Listener> {
    let (protocol, port) = word.split_once('=')?;
    Some(Listener { protocol: text(protocol)?, port: port.parse().ok()? })
}

/// Decodes UTF-8 bytes that are written as pairs of hexadecimal digits.
pub(crate) fn text(hex: &str) -> Option<String> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    let (pairs, []) = digits.as_deref()?.as_chunks::<2>() else { return None };
    String::from_utf8(pairs.iter().map(|[high, low]| high << 4 | low).collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits() {
        fn check(hex: &str, expected: Option<&str>) {
            assert_eq!(text(hex).as_deref(), expected, "{hex}");
        }
        check("", Some(""));
        check("74727565", Some("true"));
        check("C3A9", Some("é"));
        check("7", None);
        check("7x", None);
        check("FF", None);
    }

    #[test]
    fn an_answer() {
        let read = NodeDescription::parse("\"67 7031 616D7170=5672 6D717474=1883\"").unwrap();
        assert_eq!(read.login, Login { user: "g".to_owned(), password: "p1".to_owned() });
        let ports: Vec<_> =
            read.listeners.iter().map(|listener| (&*listener.protocol, listener.port)).collect();
        assert_eq!(ports, [("amqp", 5672), ("mqtt", 1883)]);
        assert_eq!(NodeDescription::parse("nonsense"), None);
        assert_eq!(NodeDescription::parse("\"67 70 616D7170\""), None);
    }
}
