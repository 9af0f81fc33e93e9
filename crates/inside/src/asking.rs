//! One request to an agent, with its single answer.

use std::time::{Duration, Instant};

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
