//! Node names: `rabbit@host`, with a short or a long host name.

use std::fmt;

use rabbitscope_machine::host_name;

use crate::ErlangError;

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeName {
    name: String,
    host: String,
}

/// Limit of characters in an atom.
const MAX_CHARACTERS: usize = 255;

impl NodeName {
    /// Parses `rabbit@host`; without a host, the name is on this machine.
    pub fn parse(text: &str) -> Result<Self, ErlangError> {
        let refused = |reason| ErlangError::Name { name: text.to_owned(), reason };
        let (name, host) = match text.split_once('@') {
            Some((name, host)) => (name, host.to_owned()),
            None => (text, short(&this_machine()).to_owned()),
        };
        if name.is_empty() || host.is_empty() {
            return Err(refused("it has the form name@host"));
        }
        let allowed = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
        if !name.chars().chain(host.chars()).all(allowed) {
            return Err(refused("it has letters, digits, `-`, `_`, `.` and one `@`"));
        }
        if text.chars().count() > MAX_CHARACTERS {
            return Err(refused("it has at most 255 characters"));
        }
        Ok(Self { name: name.to_owned(), host })
    }

    /// The part before `@`, which the port mapper knows.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The host, the part after `@`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Makes a name for a hidden node on this machine. It is short or long like this node's own name, because the node
    /// accepts no other form.
    pub(crate) fn visitor(&self, name: &str) -> Self {
        let own = this_machine();
        let long = self.host.contains('.');
        let host = match (long, own.contains('.')) {
            (false, _) => short(&own).to_owned(),
            (true, true) => own,
            // No node connects to it; the name only needs the form.
            (true, false) => format!("{own}.invalid"),
        };
        Self { name: name.to_owned(), host }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.host)
    }
}

fn short(host: &str) -> &str {
    host.split('.').next().unwrap_or(host)
}

fn this_machine() -> String {
    let name = host_name();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        fn check(text: &str, expected: Option<(&str, &str)>) {
            let parsed = NodeName::parse(text).ok();
            let parts = parsed.as_ref().map(|node| (node.name(), node.host()));
            assert_eq!(parts, expected, "{text}");
        }
        check("rabbit@host", Some(("rabbit", "host")));
        check("rabbit@a.example.org", Some(("rabbit", "a.example.org")));
        check("rabbit@", None);
        check("@host", None);
        check("rabbit@a@b", None);
        check("rab bit@a", None);
        check(&format!("rabbit@{}", "a".repeat(250)), None);
        assert_eq!(NodeName::parse("rabbit").unwrap().name(), "rabbit");
    }

    #[test]
    fn a_visitor_has_the_form_of_the_host() {
        let long = |host: &str| {
            let node = NodeName::parse(&format!("rabbit@{host}")).unwrap();
            node.visitor("me").host().contains('.')
        };
        assert!(long("a.example.org"));
        assert!(!long("a"));
    }
}
