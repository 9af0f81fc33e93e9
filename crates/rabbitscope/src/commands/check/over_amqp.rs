//! A check over AMQP, for a broker that nothing else reaches.

use std::time::Duration;

use rabbitscope_amqp::Uri;
use rabbitscope_check::{AmqpOptions, CheckOptions};
use rabbitscope_diagnosis::{Source, Unread};
use rabbitscope_terminal::UsageError;

use crate::commands::runs::URI_VARIABLE;

/// Bytes of a queue's name in AMQP 0-9-1.
const MAX_NAME_BYTES: usize = 255;

/// The broker's address, and queues to look at.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Over AMQP")]
pub(super) struct AmqpArguments {
    /// Look at the broker over AMQP: amqp://USER:PASSWORD@HOST:PORT/VHOST [without a value: `RABBITSCOPE_URI`]
    ///
    /// Declares and publishes nothing. The processes of a broker on this machine are read from outside as well; --node
    /// and --pid add all other sources. Other users can see a password on the command line, but not in the environment
    /// variable.
    #[arg(long, num_args = 0..=1, default_missing_value = "", conflicts_with = "is_wanted")]
    uri: Option<String>,
    /// With --uri: show ready messages and consumers of this queue, at most 20
    #[arg(long = "queue", value_name = "NAME", requires = "uri")]
    queues: Vec<String>,
}

impl AmqpArguments {
    /// Returns the connection, if one is wanted.
    pub(super) fn options(&self) -> anyhow::Result<Option<AmqpOptions>> {
        let Some(uri) = &self.uri else { return Ok(None) };
        let is_name = |name: &String| (1..=MAX_NAME_BYTES).contains(&name.len());
        if self.queues.len() > AmqpOptions::MAX_QUEUES || !self.queues.iter().all(is_name) {
            let most = AmqpOptions::MAX_QUEUES;
            let message =
                format!("--queue: give at most {most} names, each of 1 to {MAX_NAME_BYTES} bytes");
            return Err(UsageError(message).into());
        }
        let text = if uri.is_empty() { from_environment()? } else { uri.clone() };
        Ok(Some(AmqpOptions::new(Uri::parse(&text)?, self.queues.clone())?))
    }
}

fn from_environment() -> Result<String, UsageError> {
    let missing = || {
        let form = "amqp://USER:PASSWORD@HOST:PORT/VHOST";
        UsageError(format!("--uri without a value needs the variable {URI_VARIABLE}: {form}"))
    };
    std::env::var(URI_VARIABLE).map_err(|_| missing())
}

/// Returns a check of the broker at this address. Its node is read from outside if it runs on this machine.
pub(super) fn options(amqp: AmqpOptions, duration: Duration) -> CheckOptions {
    CheckOptions {
        node: amqp.address(),
        pid: amqp.local_pid(),
        connect: Err(without_node()),
        session: None,
        amqp: Some(amqp),
        duration,
        frequency_hz: CheckOptions::FREQUENCY_HZ,
    }
}

fn without_node() -> Unread {
    Unread {
        source: Source::Node,
        reason: "AMQP does not show it".to_owned(),
        remedy: "add --node NAME@HOST, and --cookie-file or RABBITSCOPE_COOKIE".to_owned(),
    }
}
