//! Control messages, received and sent.
//! Source: "Protocol between Connected Nodes" in the ERTS user's guide.

use crate::term::{Limits, Pid, Reference, Term, TermError, decode, decode_first, encode};

/// First byte of a frame without a distribution header.
const PASS_THROUGH: u8 = 112;

/// Limits of a control tuple, which is small. Receivers decode their messages themselves.
const CONTROL_LIMITS: Limits = Limits { depth: 64, terms: 100_000 };

/// The content of a received frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A message, still encoded, for a process of the hidden node.
    Message {
        /// The receiver.
        to: Pid,
        /// The message in external form.
        payload: Vec<u8>,
    },
    /// A message, still encoded, for a registered name on the hidden node.
    ToName {
        /// The name of the receiver.
        name: String,
        /// The message in external form.
        payload: Vec<u8>,
    },
    /// A process links to a process of the hidden node.
    Link {
        /// The process that links.
        from: Pid,
        /// The process of the hidden node.
        to: Pid,
    },
    /// A process removes a link, which the hidden node must confirm.
    Unlink {
        /// Number of the request.
        id: Term,
        /// The process that unlinks.
        from: Pid,
        /// The process of the hidden node.
        to: Pid,
    },
    /// The end of a linked process, or an exit signal.
    Exit {
        /// The sender.
        from: Pid,
        /// The receiver.
        to: Pid,
        /// The reason for the exit.
        reason: Term,
    },
    /// A process monitors a process of the hidden node.
    Monitor {
        /// The process that monitors.
        from: Pid,
        /// The monitored pid or name of the hidden node.
        to: Term,
        /// The monitor's reference.
        reference: Reference,
    },
    /// A process removes a monitor.
    Demonitor {
        /// The monitor's reference.
        reference: Reference,
    },
    /// The end of a monitored process.
    Down {
        /// The monitoring process.
        to: Pid,
        /// The monitor's reference.
        reference: Reference,
        /// The reason for the end.
        reason: Term,
    },
    /// A message without effect on the hidden node.
    Other,
}

impl Incoming {
    /// Parses a frame without its length.
    pub fn parse(frame: &[u8]) -> Result<Self, TermError> {
        let Some((&PASS_THROUGH, bytes)) = frame.split_first() else {
            return Err(TermError::Malformed("frame"));
        };
        let (control, payload) = decode_first(bytes, CONTROL_LIMITS)?;
        let payload = || payload.to_vec();
        let fields = control.as_tuple().unwrap_or_default();
        let parsed = match (fields.first().and_then(Term::as_i64), fields) {
            (Some(1), [_, from, to]) => both(from, to).map(|(from, to)| Self::Link { from, to }),
            // SEND, SEND_SENDER and their forms with a trace token.
            (Some(2 | 12 | 22 | 23), [_, _, to, ..]) => {
                to.as_pid().map(|to| Self::Message { to: to.clone(), payload: payload() })
            }
            (Some(6 | 16), [_, _, _, name, ..]) => name
                .as_atom()
                .map(|name| Self::ToName { name: name.to_owned(), payload: payload() }),
            // EXIT, EXIT2 and, with a trace token before the reason, EXIT_TT and EXIT2_TT.
            (Some(3 | 8), [_, from, to, reason]) | (Some(13 | 18), [_, from, to, _, reason]) => {
                both(from, to).map(|(from, to)| Self::Exit { from, to, reason: reason.clone() })
            }
            (Some(19), [_, from, to, reference]) => monitor(from, to, reference),
            (Some(20), [_, _, _, reference]) => {
                reference.as_reference().cloned().map(|reference| Self::Demonitor { reference })
            }
            (Some(21), [_, _, to, reference, reason]) => down(to, reference, reason),
            (Some(35), [_, id, from, to]) => {
                both(from, to).map(|(from, to)| Self::Unlink { id: id.clone(), from, to })
            }
            _ => Some(Self::Other),
        };
        parsed.ok_or(TermError::Malformed("control message"))
    }
}

fn both(from: &Term, to: &Term) -> Option<(Pid, Pid)> {
    Some((from.as_pid()?.clone(), to.as_pid()?.clone()))
}

fn monitor(from: &Term, to: &Term, reference: &Term) -> Option<Incoming> {
    let (from, reference) = (from.as_pid()?.clone(), reference.as_reference()?.clone());
    Some(Incoming::Monitor { from, to: to.clone(), reference })
}

fn down(to: &Term, reference: &Term, reason: &Term) -> Option<Incoming> {
    let (to, reference) = (to.as_pid()?.clone(), reference.as_reference()?.clone());
    Some(Incoming::Down { to, reference, reason: reason.clone() })
}

/// A message to the other node.
#[derive(Clone, Debug)]
pub(crate) enum Outgoing {
    /// A message to a process.
    Message { to: Pid, message: Term },
    /// A message to a registered name.
    ToName { from: Pid, name: &'static str, message: Term },
    /// A request to monitor a process.
    Monitor { from: Pid, to: Pid, reference: Reference },
    /// The end of a monitored process of the hidden node.
    Down { from: Term, to: Pid, reference: Reference, reason: Term },
    /// The end of a linked process of the hidden node.
    Exit { from: Pid, to: Pid, reason: Term },
    /// The confirmation that a link was removed.
    Unlinked { id: Term, from: Pid, to: Pid },
}

/// Encodes the whole frame, with its length.
pub(crate) fn frame_of(outgoing: Outgoing) -> Vec<u8> {
    // Fills the former place of a cookie.
    let unused = Term::atom("");
    let number = |number: i64| Term::Integer(number);
    let (control, message) = match outgoing {
        Outgoing::Message { to, message } => (vec![number(2), unused, to.into()], Some(message)),
        Outgoing::ToName { from, name, message } => {
            (vec![number(6), from.into(), unused, Term::atom(name)], Some(message))
        }
        Outgoing::Monitor { from, to, reference } => {
            (vec![number(19), from.into(), to.into(), reference.into()], None)
        }
        Outgoing::Down { from, to, reference, reason } => {
            (vec![number(21), from, to.into(), reference.into(), reason], None)
        }
        Outgoing::Exit { from, to, reason } => {
            (vec![number(3), from.into(), to.into(), reason], None)
        }
        Outgoing::Unlinked { id, from, to } => (vec![number(36), id, from.into(), to.into()], None),
    };
    let control = encode(&Term::Tuple(control));
    let message = message.map(|message| encode(&message)).unwrap_or_default();
    let length = u32::try_from(1 + control.len() + message.len()).expect("we send little");
    [&length.to_be_bytes()[..], &[PASS_THROUGH], &control, &message].concat()
}

/// Decodes a message that was kept encoded.
pub(crate) fn message_of(payload: &[u8]) -> Result<Term, TermError> {
    decode(payload, Limits::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Atom;

    fn pid(id: u32) -> Pid {
        Pid { node: Atom::new("a@b"), id, serial: 0, creation: 1 }
    }

    #[test]
    fn a_message_there_and_back() {
        let message = Term::tuple([Term::atom("hello"), Term::Integer(1)]);
        let frame = frame_of(Outgoing::Message { to: pid(7), message: message.clone() });
        let Ok(Incoming::Message { to, payload }) = Incoming::parse(&frame[4..]) else {
            panic!("{frame:?}");
        };
        assert_eq!((to, message_of(&payload)), (pid(7), Ok(message)));
    }

    #[test]
    fn frames_that_are_none() {
        fn check(frame: &[u8], expected: &TermError) {
            assert_eq!(&Incoming::parse(frame).unwrap_err(), expected);
        }
        check(&[], &TermError::Malformed("frame"));
        check(&[131, 68, 0], &TermError::Malformed("frame"));
        check(&[112], &TermError::Truncated);
        check(&[112, 131, 104, 1], &TermError::Truncated);
        // {1, 1, 1}: a link between two numbers.
        check(&[112, 131, 104, 3, 97, 1, 97, 1, 97, 1], &TermError::Malformed("control message"));
        assert_eq!(Incoming::parse(&[112, 131, 104, 1, 97, 200]), Ok(Incoming::Other));
    }
}
