//! Functions and processes that a request names.

use std::fmt;

use crate::Term;

/// A function of the node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionName {
    /// The module.
    pub module: String,
    /// The function's name.
    pub name: String,
    /// Number of arguments.
    pub arity: u32,
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", quoted(&self.module), quoted(&self.name), self.arity)
    }
}

/// Formats an atom in Erlang's notation.
fn quoted(atom: &str) -> String {
    let mut characters = atom.chars();
    let plain = characters.next().is_some_and(|first| first.is_ascii_lowercase())
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '@');
    if plain { atom.to_owned() } else { format!("'{atom}'") }
}

/// Functions with a name, with one arity or any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPattern {
    /// The module.
    pub module: String,
    /// The function's name.
    pub name: String,
    /// Number of arguments; absent for any.
    pub arity: Option<u8>,
}

impl FunctionPattern {
    /// Parses `module:function` or `module:function/arity`, with each name quoted or not.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` has not the form module:function or module:function/arity");
        let (module, rest) = name_at(text).ok_or_else(wrong)?;
        let (name, rest) = rest.strip_prefix(':').and_then(name_at).ok_or_else(wrong)?;
        let arity = match rest.strip_prefix('/') {
            Some(arity) => Some(arity.parse().map_err(|_| wrong())?),
            None if rest.is_empty() => None,
            None => return Err(wrong()),
        };
        Ok(Self { module: module.to_owned(), name: name.to_owned(), arity })
    }

    pub(super) fn arguments(&self) -> Vec<(&'static str, Term)> {
        let mut arguments =
            vec![("module", Term::text(&self.module)), ("function", Term::text(&self.name))];
        arguments.extend(self.arity.map(|arity| ("arity", Term::from(u32::from(arity)))));
        arguments
    }
}

impl fmt::Display for FunctionPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", quoted(&self.module), quoted(&self.name))?;
        self.arity.map_or(Ok(()), |arity| write!(f, "/{arity}"))
    }
}

/// Splits off the name at the start of a text.
fn name_at(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = match text.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\'')?,
        None => text.split_at(text.find([':', '/']).unwrap_or(text.len())),
    };
    (!name.is_empty()).then_some((name, rest))
}

/// A selection of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The process with this pid, as the node prints it: `<0.123.0>`.
    Pid(String),
    /// The process with this registered name.
    Registered(String),
    /// All processes in this role: `reader`, `queue`, `channel` …
    Role(String),
    /// The process of a queue: the leader of a quorum queue, the writer of a stream.
    Queue {
        /// The queue's name.
        name: String,
        /// The virtual host; may be absent if only one virtual host has such a queue.
        vhost: Option<String>,
    },
    /// The processes of the supervision tree below this registered name.
    Tree(String),
}

impl Who {
    /// Selects a process by pid or registered name.
    pub fn process(text: &str) -> Self {
        if text.starts_with('<') {
            Self::Pid(text.to_owned())
        } else {
            Self::Registered(text.to_owned())
        }
    }

    pub(super) fn to_term(&self) -> Term {
        let one = |key, value: &str| Term::map([(key, Term::text(value))]);
        match self {
            Self::Pid(value) => one("pid", value),
            Self::Registered(value) => one("registered", value),
            Self::Role(value) => one("role", value),
            Self::Queue { name, vhost: None } => one("queue", name),
            Self::Queue { name, vhost: Some(vhost) } => {
                Term::map([("queue", Term::text(name)), ("vhost", Term::text(vhost))])
            }
            Self::Tree(value) => one("tree", value),
        }
    }
}

/// The role of an Erlang process in RabbitMQ, as one word.
pub type ProcessKind = String;

/// The name of a process: its registered name, or the name of its queue; often empty.
pub type ProcessName = String;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, &str, Option<u8>)>) {
        let parsed = FunctionPattern::parse(text).ok();
        let expected = expected.map(|(module, name, arity)| FunctionPattern {
            module: module.to_owned(),
            name: name.to_owned(),
            arity,
        });
        assert_eq!(parsed, expected, "{text}");
    }

    #[test]
    fn functions_as_they_are_typed() {
        check("lists:map/2", Some(("lists", "map", Some(2))));
        check("lists:map", Some(("lists", "map", None)));
        check("'my mod':'-f/1-fun-0-'/3", Some(("my mod", "-f/1-fun-0-", Some(3))));
        check("lists", None);
        check("lists:", None);
        check(":map", None);
        check("lists:map/x", None);
        check("lists:map/2/3", None);
        check("lists:map/300", None);
    }

    #[test]
    fn names_are_quoted_where_erlang_quotes_them() {
        let check = |text: &str| {
            assert_eq!(FunctionPattern::parse(text).unwrap().to_string(), text);
        };
        check("lists:map/2");
        check("'Elixir.Enum':'-map/2-fun-0-'/1");
    }

    /// The agent refuses a request for a role that is not in its list.
    #[test]
    fn every_role_that_a_process_can_have_is_listed() {
        let text = include_str!("../../../../agent/broker/roles.erl");
        let (_, listed) = text.split_once("roles() ->").unwrap();
        let (listed, _) = listed.split_once("].").unwrap();
        let listed: Vec<&str> = listed.split([' ', ',', '[', '\n']).collect();
        let is_clause = |line: &&str| line.starts_with("role_") || line.starts_with("        {");
        let given: Vec<&str> = text
            .lines()
            .filter(is_clause)
            .filter_map(|line| line.rsplit_once("-> "))
            .map(|(_, role)| role.trim_end_matches([';', '.']))
            .filter(|role| role.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
            .collect();
        assert!(given.len() > 20, "{given:?}");
        for role in given {
            assert!(listed.contains(&role), "{role} is not in {listed:?}");
        }
    }

    #[test]
    fn a_process_by_pid_or_name() {
        assert_eq!(Who::process("<0.1.0>"), Who::Pid("<0.1.0>".to_owned()));
        assert_eq!(Who::process("rabbit"), Who::Registered("rabbit".to_owned()));
    }
}
