//! A connection to a node: opened, asked, closed.
//!
//! A thread of its own, the link, owns the socket, so that a program that is busy or waits does not
//! lose the connection. Every wait has an end.

mod call;
mod link;
mod mailbox;
mod open;
mod options;
mod switchboard;
mod tls;
mod wire;

use std::{
    sync::{Arc, atomic::Ordering},
    thread::JoinHandle,
    time::Duration,
};

use call::Call;
pub use mailbox::{Mailbox, Received};
pub(crate) use open::unique;
pub use options::{ConnectOptions, Peer, Port, TlsFiles, VerifyPeer};
use switchboard::Switchboard;
pub(crate) use switchboard::{Command, Renewal};

use crate::{
    Cookie, ErlangError, Term,
    distribution::{Outgoing, frame_of},
    term::Pid,
};

/// A connection. Shared between threads as it is; closed when dropped.
#[derive(Debug)]
pub struct Connection {
    shared: Arc<Switchboard>,
    link: Option<JoinHandle<()>>,
    dead_man: Duration,
    cookie: Cookie,
}

/// How long the node may take for what costs it nothing.
const PROMPT: Duration = Duration::from_secs(5);

impl Connection {
    /// Connects, with each of the cookies in turn.
    ///
    /// # Example
    /// ```no_run
    /// use std::time::Duration;
    /// use rabbitscope_erlang::{ConnectOptions, Connection, NodeName, Term};
    /// let options = ConnectOptions::new(NodeName::parse("rabbit@localhost")?);
    /// let connection = Connection::open(&options)?;
    /// let release = connection.call(
    ///     "erlang", "system_info", vec![Term::atom("otp_release")], Duration::from_secs(1))?;
    /// # Ok::<(), rabbitscope_erlang::ErlangError>(())
    /// ```
    pub fn open(options: &ConnectOptions) -> Result<Self, ErlangError> {
        let connection = open::open(options)?;
        connection.learn_tick_time()?;
        Ok(connection)
    }

    /// The node's name.
    pub fn node(&self) -> &str {
        self.shared.node()
    }

    /// For how long the node may hear nothing of us.
    pub(crate) fn dead_man(&self) -> Duration {
        self.dead_man
    }

    /// What the node and we know, so that it can be kept out of what is shown.
    pub(crate) fn cookie(&self) -> &Cookie {
        &self.cookie
    }

    /// A process of our own, for messages.
    pub fn mailbox(&self) -> Mailbox {
        Mailbox::new(&self.shared)
    }

    /// Calls a function on the node, in a process of its own there. When the time is over the call
    /// is given up; the function goes on to its end on the node.
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

    /// Calls a function that sends its result in parts and returns `{parts, Count, Result}`; gives
    /// the result. The arguments begin with `{Pid, Ref}`; a part is the message `{Ref, Part}`.
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

    /// The value of Erlang expressions, interpreted by the node with these variables bound.
    pub fn evaluate(
        &self,
        expressions: &str,
        bindings: &[(&str, Term)],
        within: Duration,
    ) -> Result<Term, ErlangError> {
        let text = expressions.chars().map(|c| Term::from(u32::from(c))).collect::<Vec<_>>();
        let scanned = self.call("erl_scan", "string", vec![text.into()], within)?;
        let Some([tokens, _]) = scanned.as_tagged("ok") else {
            return Err(ErlangError::unexpected("erl_scan:string/1", &scanned));
        };
        let parsed = self.call("erl_parse", "parse_exprs", vec![tokens.clone()], within)?;
        let Some([expressions]) = parsed.as_tagged("ok") else {
            return Err(ErlangError::unexpected("erl_parse:parse_exprs/1", &parsed));
        };
        let binding = |(name, value): &(&str, Term)| Term::tuple([Term::atom(name), value.clone()]);
        let bindings: Vec<Term> = bindings.iter().map(binding).collect();
        let arguments = vec![expressions.clone(), bindings.into()];
        let value = self.call("erl_eval", "exprs", arguments, within)?;
        match value.as_tagged("value") {
            Some([value, _]) => Ok(value.clone()),
            _ => Err(ErlangError::unexpected("erl_eval:exprs/2", &value)),
        }
    }

    /// Sends the message once a second from now on, whatever this program is busy with.
    pub(crate) fn renew(&self, process: &Pid, message: Term) -> Renewal {
        let renewal = Renewal(self.shared.number());
        let frame = frame_of(Outgoing::Message { to: process.clone(), message });
        self.command(Command::Renew(renewal, frame));
        renewal
    }

    pub(crate) fn command(&self, command: Command) {
        self.shared.command(command);
    }

    /// A node is silent for at most this long while it lives.
    fn learn_tick_time(&self) -> Result<(), ErlangError> {
        let asked = "net_kernel:get_net_ticktime/0";
        let answer = self.call("net_kernel", "get_net_ticktime", Vec::new(), PROMPT)?;
        // `{ongoing_change_to, Seconds}` while it is being changed.
        let seconds = answer.as_u64().or_else(|| answer.as_tuple()?.get(1)?.as_u64());
        let seconds = seconds.ok_or_else(|| ErlangError::unexpected(asked, &answer))?;
        self.shared.silence_ms.store(seconds.max(1) * 1000, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.command(Command::Close);
        if let Some(link) = self.link.take() {
            let _ = link.join();
        }
    }
}
