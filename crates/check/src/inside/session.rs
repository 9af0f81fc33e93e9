//! A connection that several checks of one node share, so that the node compiles the agent once.

use std::{
    io,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Duration,
};

use rabbitscope_diagnosis::Source;
use rabbitscope_erlang::{ConnectOptions, Connection, ErlangError};
use rabbitscope_inside::{CheckReader, NodeParts};

use super::reading::observed;
use crate::{refusal::from_text, span::Span};

/// A connection to a node, on a thread of its own. It opens with the first check and closes with the last clone of this
/// value; then the node removes the agent.
#[derive(Clone, Debug)]
pub struct NodeSession {
    checks: Sender<Asked>,
}

/// A check that the thread answers.
#[derive(Debug)]
struct Asked {
    duration: Duration,
    span: Span,
    answer: Sender<NodeParts>,
}

impl NodeSession {
    /// Starts the thread.
    pub fn start(connect: ConnectOptions) -> io::Result<Self> {
        let (checks, asked) = channel();
        let answer = move || answer_all(&connect, &asked);
        thread::Builder::new().name("checks".to_owned()).spawn(answer)?;
        Ok(Self { checks })
    }

    /// Reads the node for `duration`, or until an early end of the span.
    pub(crate) fn read(&self, duration: Duration, span: &Span) -> NodeParts {
        let (answer, answers) = channel();
        let span = span.clone();
        // Without its thread there is no answer either.
        let _ = self.checks.send(Asked { duration, span, answer });
        answers.recv().unwrap_or_else(|_| unread("its thread failed"))
    }
}

/// Answers until nobody can ask any more. After a failure, the next check connects again.
fn answer_all(connect: &ConnectOptions, asked: &Receiver<Asked>) {
    while let Ok(first) = asked.recv() {
        answer_while_connected(connect, first, asked);
    }
}

/// Answers until the connection fails.
fn answer_while_connected(connect: &ConnectOptions, first: Asked, asked: &Receiver<Asked>) {
    let connection = match Connection::open(connect) {
        Ok(connection) => connection,
        Err(error) => return first.refuse(&error),
    };
    let mut reader = match CheckReader::new(&connection) {
        Ok(reader) => reader,
        Err(error) => return first.refuse(&error),
    };
    for check in std::iter::once(first).chain(asked) {
        match observed(&connection, &mut reader, check.duration, check.span.early()) {
            Ok(parts) => drop(check.answer.send(parts)),
            Err(error) => return check.refuse(&error),
        }
    }
}

impl Asked {
    fn refuse(&self, error: &ErlangError) {
        // Nobody waits for the answer to a check that has ended.
        let _ = self.answer.send(unread(&error.to_string()));
    }
}

fn unread(reason: &str) -> NodeParts {
    NodeParts::unread(&from_text(Source::Node, reason))
}
