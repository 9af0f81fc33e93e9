//! The request that spans the check.

use std::{sync::atomic::AtomicBool, time::Duration};

use rabbitscope_diagnosis::Source;
use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError};
use rabbitscope_inside::{CheckReader, NodeParts};

use super::depths::{self, Depths};
use crate::{refusal::from_text, span::Span};

/// Reads the node for `duration`, or until an early end of the span.
pub(crate) fn read(connect: &ConnectOptions, duration: Duration, span: &Span) -> NodeParts {
    observed(connect, duration, span.early())
        .unwrap_or_else(|error| NodeParts::unread(&from_text(Source::Node, &error.to_string())))
}

fn observed(
    connect: &ConnectOptions,
    duration: Duration,
    is_early: &AtomicBool,
) -> Result<NodeParts, ErlangError> {
    let connection = Connection::open(connect)?;
    let ask = || Depths::read(&connection);
    let before = depths::are_wanted(&connection).then(ask);
    let mut reader = CheckReader::new(&connection)?;
    let mut parts = reader.read_until(duration, is_early)?;
    reader.end()?;
    if let Some(before) = before {
        depths::fill(&mut parts.queues, before, ask());
    }
    Ok(parts)
}
