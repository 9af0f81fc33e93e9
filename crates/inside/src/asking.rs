//! One request to an agent, with its single answer.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rabbitscope_erlang::{ErlangError, Loaded, Reply, Term};

/// Asks the agent and waits at most `within` for the answer.
pub(crate) fn ask(
    agent: &mut Loaded<'_>,
    name: &str,
    arguments: Term,
    within: Duration,
) -> Result<Term, ErlangError> {
    let node = agent.connection().node().to_owned();
    let mut request = agent.request(name, arguments)?;
    let deadline = Instant::now() + within;
    loop {
        match request.next(deadline.saturating_duration_since(Instant::now()))? {
            Some(Reply::Done(answer)) => return Ok(answer),
            Some(Reply::Event(_)) => {}
            None => return Err(ErlangError::NoAnswer { node, asked: name.to_owned(), within }),
        }
    }
}

/// Interval of looks at the sign of an early end.
const STEP: Duration = Duration::from_millis(50);

/// Like [`ask`], with a sign of an early end. The agent is told of it once, and answers with what it has.
pub(crate) fn ask_until(
    agent: &mut Loaded<'_>,
    (name, arguments): (&str, Term),
    within: Duration,
    is_early: &AtomicBool,
) -> Result<Term, ErlangError> {
    let node = agent.connection().node().to_owned();
    let mut request = agent.request(name, arguments)?;
    let deadline = Instant::now() + within;
    let mut is_told = false;
    loop {
        if is_early.load(Ordering::Relaxed) && !is_told {
            request.cancel()?;
            is_told = true;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        match request.next(left.min(STEP))? {
            Some(Reply::Done(answer)) => return Ok(answer),
            None if left.is_zero() => {
                return Err(ErlangError::NoAnswer { node, asked: name.to_owned(), within });
            }
            Some(Reply::Event(_)) | None => {}
        }
    }
}
