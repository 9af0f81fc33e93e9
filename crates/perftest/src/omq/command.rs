//! The commands of omq, which name the protocols of publishers and consumers.

use rabbitscope_runs::scenario::Protocol;

use crate::{PerfTestError, arguments::Arguments};

/// The protocols of publishers and consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) publishers: Protocol,
    pub(super) consumers: Protocol,
}

/// Names of protocols in commands. `stomp` has no counterpart.
const PROTOCOLS: [(&str, Option<Protocol>); 5] = [
    ("amqp", Some(Protocol::Amqp10)),
    ("amqp091", Some(Protocol::Amqp091)),
    ("mqtt", Some(Protocol::Mqtt)),
    ("stream", Some(Protocol::Stream)),
    ("stomp", None),
];

/// Returns whether a word is a command: one protocol, or two of them.
pub(crate) fn is_subcommand(word: &str) -> bool {
    both(word).is_some()
}

type Named = (&'static str, Option<Protocol>);

fn both(word: &str) -> Option<(Named, Named)> {
    let named = |name: &str| PROTOCOLS.into_iter().find(|(known, _)| *known == name);
    match word.split_once('-') {
        Some((publishers, consumers)) => named(publishers).zip(named(consumers)),
        None => named(word).map(|both| (both, both)),
    }
}

impl Command {
    /// Finds the command among the words that belong to no option.
    pub(super) fn from_arguments(arguments: &mut Arguments) -> Result<Self, PerfTestError> {
        let refuse = |reason: String| Err(PerfTestError::CommandLine(reason));
        let Some(word) = arguments.take_ignored(is_subcommand) else {
            let names = "`stream`, `amqp-mqtt`, `stream-amqp091`";
            return refuse(format!("omq needs a command, such as {names}"));
        };
        match both(&word) {
            Some(((_, Some(publishers)), (_, Some(consumers)))) => {
                Ok(Self { publishers, consumers })
            }
            _ => refuse(
                "omq: there is no load by STOMP here; amqp, amqp091, mqtt and stream have one"
                    .to_owned(),
            ),
        }
    }
}
