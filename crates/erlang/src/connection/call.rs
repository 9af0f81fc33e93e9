//! Calls of functions on the node, through its process `rex`.

use std::time::{Duration, Instant};

use super::{Connection, Mailbox, Received};
use crate::{ErlangError, Term, error::shortened, term::Reference};

impl Connection {
    /// Calls a function on the node, in a process of its own. After the timeout the call returns an error, while the
    /// function continues on the node.
    pub fn call(
        &self,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
        within: Duration,
    ) -> Result<Term, ErlangError> {
        let call = self.begin(self.mailbox(), (module, function), arguments)?;
        call.end(within)
    }

    /// Calls a function that sends parts and returns `{parts, Count, Result}`; the value is that result. The arguments
    /// begin with `{Pid, Ref}`, and a part is the message `{Ref, Part}`.
    pub fn call_in_parts(
        &self,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
        within: Duration,
        each: &mut dyn FnMut(Term) -> Result<(), ErlangError>,
    ) -> Result<Term, ErlangError> {
        let mailbox = self.mailbox();
        let parts = mailbox.make_reference();
        let to = Term::tuple([mailbox.pid().clone().into(), parts.clone().into()]);
        let arguments = [vec![to], arguments].concat();
        let call = self.begin(mailbox, (module, function), arguments)?;
        call.end_in_parts(&parts, within, each)
    }

    fn begin(
        &self,
        mailbox: Mailbox,
        (module, function): (&str, &str),
        arguments: Vec<Term>,
    ) -> Result<Call<'_>, ErlangError> {
        let asked = format!("{module}:{function}/{}", arguments.len());
        let reference = self.shared.make_reference();
        let request = Term::tuple([
            Term::atom("call"),
            Term::atom(module),
            Term::atom(function),
            Term::List(arguments),
            Term::atom("user"),
        ]);
        let caller = Term::tuple([mailbox.pid().clone().into(), reference.clone().into()]);
        mailbox.send_to_name("rex", Term::tuple([Term::atom("$gen_call"), caller, request]))?;
        Ok(Call { connection: self, mailbox, reference, asked })
    }
}

/// A call that waits for its answer `{Ref, Answer}`.
struct Call<'a> {
    connection: &'a Connection,
    mailbox: Mailbox,
    reference: Reference,
    /// The called function, as `module:function/arity`.
    asked: String,
}

impl Call<'_> {
    fn end(self, within: Duration) -> Result<Term, ErlangError> {
        let answer = self.answer(within)?;
        answer.ok_or_else(|| self.late(within))
    }

    /// Parts and answer come from different processes, so parts may arrive after the answer.
    fn end_in_parts(
        self,
        parts: &Reference,
        within: Duration,
        each: &mut dyn FnMut(Term) -> Result<(), ErlangError>,
    ) -> Result<Term, ErlangError> {
        let deadline = Instant::now() + within;
        let mut seen = 0;
        let mut ended: Option<(u64, Term)> = None;
        loop {
            match ended {
                Some((count, result)) if seen >= count => return Ok(result),
                _ => {}
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.late(within));
            }
            let next = self.mailbox.receive_map(left, |received| {
                let (reference, value) = referenced(received)?;
                match reference {
                    found if found == *parts => Some((true, value)),
                    found if found == self.reference => Some((false, value)),
                    _ => None,
                }
            })?;
            match next {
                None => return Err(self.late(within)),
                Some((true, part)) => {
                    seen += 1;
                    each(part)?;
                }
                Some((false, answer)) => ended = Some(end_of_parts(&self.checked(answer)?)?),
            }
        }
    }

    fn answer(&self, within: Duration) -> Result<Option<Term>, ErlangError> {
        let answer = self.mailbox.receive_map(within, |received| {
            let (reference, value) = referenced(received)?;
            (reference == self.reference).then_some(value)
        })?;
        answer.map(|answer| self.checked(answer)).transpose()
    }

    /// Returns an answer, unless it reports an error.
    fn checked(&self, answer: Term) -> Result<Term, ErlangError> {
        match answer.as_tagged("badrpc") {
            Some([reason]) => Err(ErlangError::Remote {
                node: self.connection.node().to_owned(),
                function: self.asked.clone(),
                reason: shortened(&reason.to_string()),
            }),
            _ => Ok(answer),
        }
    }

    fn late(&self, within: Duration) -> ErlangError {
        let (node, asked) = (self.connection.node().to_owned(), self.asked.clone());
        ErlangError::NoAnswer { node, asked, within }
    }
}

/// Splits a message of the form `{Ref, Value}`.
fn referenced(received: Received) -> Option<(Reference, Term)> {
    let Received::Message(Term::Tuple(parts)) = received else { return None };
    match <[Term; 2]>::try_from(parts).ok()? {
        [Term::Reference(reference), value] => Some((reference, value)),
        _ => None,
    }
}

fn end_of_parts(answer: &Term) -> Result<(u64, Term), ErlangError> {
    match answer.as_tagged("parts") {
        Some([count, result]) => count.as_u64().map(|count| (count, result.clone())),
        _ => None,
    }
    .ok_or_else(|| ErlangError::unexpected("a call in parts", answer))
}
