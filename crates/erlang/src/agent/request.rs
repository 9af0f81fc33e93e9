//! Requests to an agent, and its replies.

use std::time::{Duration, Instant};

use super::Loaded;
use crate::{
    ErlangError, Term,
    error::shortened,
    term::{Pid, Reference},
};

/// A running request, which a drop before its end cancels.
#[derive(Debug)]
pub struct Request<'a, 'c> {
    loaded: &'a mut Loaded<'c>,
    agent: Pid,
    reference: Reference,
    open: bool,
}

/// A reply of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// An event, which more replies follow.
    Event(Term),
    /// The result, which is the last reply.
    Done(Term),
}

impl<'c> Loaded<'c> {
    /// Sends a request. A command runs one request at a time.
    pub fn request(&mut self, name: &str, arguments: Term) -> Result<Request<'_, 'c>, ErlangError> {
        let agent = self.pid().cloned();
        let agent = agent.expect("only modules that were started with an agent are asked");
        let reference = self.mailbox().make_reference();
        let message = Term::tuple([
            Term::atom("request"),
            reference.clone().into(),
            Term::atom(name),
            arguments,
        ]);
        self.mailbox().send(&agent, message)?;
        Ok(Request { loaded: self, agent, reference, open: true })
    }
}

impl Request<'_, '_> {
    /// Returns the next reply; `None` if none arrives in time.
    pub fn next(&mut self, within: Duration) -> Result<Option<Reply>, ErlangError> {
        let deadline = Instant::now() + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.loaded.receive(left)?;
            if let Some(payload) = message.and_then(|message| self.payload_in(message)) {
                return self.reply_in(payload).map(Some);
            }
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    /// Allows the agent to send this many more events.
    pub fn credit(&self, events: u32) -> Result<(), ErlangError> {
        self.say(&[Term::atom("credit"), self.reference.clone().into(), events.into()])
    }

    /// Asks for an early end; [`Reply::Done`] then has the partial result.
    pub fn cancel(&self) -> Result<(), ErlangError> {
        self.say(&[Term::atom("cancel"), self.reference.clone().into()])
    }

    fn say(&self, message: &[Term]) -> Result<(), ErlangError> {
        self.loaded.mailbox().send(&self.agent, Term::tuple(message))
    }

    /// Returns the payload of a reply to this request, and ignores replies to earlier ones.
    fn payload_in(&self, message: Term) -> Option<Term> {
        let [reference, _] = message.as_tagged("rabbitscope")? else { return None };
        (reference.as_reference() == Some(&self.reference)).then(|| last_of(message))
    }

    fn reply_in(&mut self, payload: Term) -> Result<Reply, ErlangError> {
        let is = |tag: &str| matches!(payload.as_tagged(tag), Some([_]));
        let (is_event, is_done) = (is("event"), is("done"));
        self.open = is_event;
        if is_event {
            return Ok(Reply::Event(last_of(payload)));
        }
        if is_done {
            return Ok(Reply::Done(last_of(payload)));
        }
        let error = payload.as_tagged("error").and_then(|error| {
            let [kind, text] = error else { return None };
            Some((kind.as_atom()?.to_owned(), text.to_text()?))
        });
        Err(match error {
            Some((kind, text)) => ErlangError::Agent {
                node: self.loaded.connection().node().to_owned(),
                kind,
                text: shortened(&text),
            },
            None => ErlangError::unexpected("a request to the agent", &payload),
        })
    }
}

/// Returns the last element of a tuple without a copy, because events may be large.
fn last_of(term: Term) -> Term {
    match term {
        Term::Tuple(mut elements) => elements.pop().unwrap_or(Term::Tuple(elements)),
        other => other,
    }
}

impl Drop for Request<'_, '_> {
    fn drop(&mut self) {
        if self.open {
            // If this message does not arrive, the keeper ends the agent.
            let _ = self.cancel();
        }
    }
}
