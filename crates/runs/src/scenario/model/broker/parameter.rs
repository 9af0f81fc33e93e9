//! Runtime parameters of a throwaway broker, which configure its plugins.

use serde::{Deserialize, Serialize};

/// Placeholder in a value for the address of a node, followed by the node's number.
const NODE_URI: &str = "$uri-";

/// A runtime parameter of the virtual host, for example a shovel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Parameter {
    /// Component of the parameter, such as `shovel`.
    pub component: String,
    /// Name of the parameter.
    pub name: String,
    /// The value as JSON. `$uri-2` in it stands for the address of the second node, with its password.
    pub value: String,
    /// The node that receives it, from 1; a cluster's nodes tell one another.
    #[serde(default = "first")]
    pub node: u32,
}

fn first() -> u32 {
    1
}

impl Parameter {
    /// Returns the value with these addresses of the nodes. Placeholders of nodes that do not exist stay unchanged.
    pub fn value_with(&self, uris: &[String]) -> String {
        let mut parts = self.value.split(NODE_URI);
        let mut value = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits =
                part.len() - part.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
            let number = part[..digits].parse::<usize>().ok();
            match number.and_then(|number| uris.get(number.checked_sub(1)?)) {
                Some(uri) => value += &(uri.clone() + &part[digits..]),
                None => value += &(NODE_URI.to_owned() + part),
            }
        }
        value
    }

    /// Returns whether every address in the value belongs to one of `nodes` nodes.
    pub fn names_nodes_below(&self, nodes: u32) -> bool {
        let uris = vec![String::new(); nodes as usize];
        !self.value_with(&uris).contains(NODE_URI)
    }
}

#[cfg(test)]
mod tests {
    use super::Parameter;

    #[test]
    fn addresses_of_nodes_take_their_places() {
        let with = |value: &str| {
            let (component, name) = ("shovel".to_owned(), "s".to_owned());
            let parameter = Parameter { component, name, value: value.to_owned(), node: 1 };
            let uris = ["amqp://a".to_owned(), "amqp://b".to_owned()];
            (parameter.value_with(&uris), parameter.names_nodes_below(2))
        };
        assert_eq!(with(r#"{"d": "$uri-2"}"#), (r#"{"d": "amqp://b"}"#.to_owned(), true));
        assert_eq!(with("$uri-1$uri-2"), ("amqp://aamqp://b".to_owned(), true));
        for unknown in ["$uri-3", "$uri-0", "$uri-", "$uri-12345678901234567890123"] {
            assert_eq!(with(unknown), (unknown.to_owned(), false));
        }
        assert_eq!(with("{}"), ("{}".to_owned(), true));
    }
}
