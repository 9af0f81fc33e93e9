//! The request that spans the check.

use std::{
    sync::{atomic::AtomicBool, mpsc::Sender},
    time::{Duration, Instant},
};

use rabbitscope_diagnosis::Source;
use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError};
use rabbitscope_inside::{CheckReader, ModuleLender, NodeParts};

use super::depths::{self, Depths};
use crate::{refusal::from_text, span::Span};

/// Time of loading after which the node is late: the other sources then observe it already.
const USUAL_LOADING: Duration = Duration::from_secs(3);

/// Least time of looks.
const LEAST: Duration = Duration::from_secs(3);

/// Time for which the names of processes may still be asked when everything else was read.
const NAMES_WITHIN: Duration = Duration::from_secs(30);

/// Reads the node for `duration`, or until an early end of the span, with a connection of its own. Lends the agent's module
/// to the thread that asks for names of processes.
pub(crate) fn read(
    connect: &ConnectOptions,
    (duration, span): (Duration, &Span),
    lender: ModuleLender,
    results: &Sender<NodeParts>,
) {
    if let Err(error) = read_once(connect, (duration, span), lender, results) {
        let _ = results.send(NodeParts::unread(&from_text(Source::Node, &error.to_string())));
    }
}

fn read_once(
    connect: &ConnectOptions,
    (duration, span): (Duration, &Span),
    lender: ModuleLender,
    results: &Sender<NodeParts>,
) -> Result<(), ErlangError> {
    let called = Instant::now();
    let connection = Connection::open(connect)?;
    let mut reader = CheckReader::new(&connection)?;
    lender.lend(reader.module());
    let duration = remaining(duration, called.elapsed());
    let _ = results.send(observed(&connection, &mut reader, duration, span.early())?);
    lender.wait_for_return(NAMES_WITHIN);
    // The node removes the module even if this fails, and everything was read.
    let _ = reader.end();
    Ok(())
}

/// Reads the node with an agent that is loaded already.
pub(super) fn observed(
    connection: &Connection,
    reader: &mut CheckReader<'_>,
    duration: Duration,
    is_early: &AtomicBool,
) -> Result<NodeParts, ErlangError> {
    let ask = || Depths::read(connection);
    let before = depths::are_wanted(connection).then(ask);
    let mut parts = reader.read_until(duration, is_early)?;
    if let Some(before) = before {
        depths::fill(&mut parts.queues, before, ask());
    }
    Ok(parts)
}

/// Returns the time of looks. A saturated node loads the agent late, and so ends with the other sources all the same: the
/// answer would otherwise come when nobody waits for it any more.
fn remaining(duration: Duration, loading: Duration) -> Duration {
    let late = loading.saturating_sub(USUAL_LOADING);
    duration.saturating_sub(late).max(LEAST.min(duration))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_beginning_shortens_the_looks() {
        fn check(duration: u64, loading: u64, expected: u64) {
            let found = remaining(Duration::from_secs(duration), Duration::from_secs(loading));
            assert_eq!(found, Duration::from_secs(expected));
        }
        check(15, 1, 15);
        check(15, 8, 10);
        check(15, 40, 3);
        check(2, 40, 2);
    }
}
