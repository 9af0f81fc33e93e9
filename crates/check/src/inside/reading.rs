//! The request that spans the check.

use std::time::Duration;

use rabbitscope_diagnosis::Source;
use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError};
use rabbitscope_inside::{CheckReader, NodeParts};

use super::depths::{self, Depths};
use crate::refusal::from_text;

/// Reads the node for `duration`.
pub(crate) fn read(connect: &ConnectOptions, duration: Duration) -> NodeParts {
    observed(connect, duration)
        .unwrap_or_else(|error| NodeParts::unread(&from_text(Source::Node, &error.to_string())))
}

fn observed(connect: &ConnectOptions, duration: Duration) -> Result<NodeParts, ErlangError> {
    let connection = Connection::open(connect)?;
    let ask = || Depths::read(&connection);
    let before = depths::are_wanted(&connection).then(ask);
    let mut reader = CheckReader::new(&connection)?;
    let mut parts = reader.read(duration)?;
    reader.end()?;
    if let Some(before) = before {
        depths::fill(&mut parts.queues, before, ask());
    }
    Ok(parts)
}
