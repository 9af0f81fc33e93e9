//! A module on the node: loaded, kept alive, removed.

use std::time::{Duration, Instant};

use crate::{
    Connection, ErlangError, Mailbox, Received, Term,
    connection::{Command, Renewal, unique},
    error::shortened,
    term::Pid,
};

use super::ModuleSource;

const KEEPER: &str = include_str!("keeper.txt");

/// Placeholder in the source for the module's name on the node.
const MODULE_MACRO: &str = "?MODULE";

/// Timeout of scanning, parsing and compiling a module, which takes a third of a second on an idle node.
const LOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Timeout of the removal: the keeper gives the agent and its clean-up two seconds each.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(6);

/// The end of a module on the node.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The reason that the keeper sent.
    pub reason: Term,
}

/// A module that is on the node until this is dropped, the connection is lost, or the program ends.
#[derive(Debug)]
pub struct Loaded<'a> {
    connection: &'a Connection,
    mailbox: Mailbox,
    module: String,
    keeper: Pid,
    agent: Option<Pid>,
    renewal: Renewal,
    ended: Option<Ended>,
}

impl<'a> Loaded<'a> {
    /// Compiles and loads a module whose functions are called.
    pub fn functions(
        connection: &'a Connection,
        source: ModuleSource,
    ) -> Result<Self, ErlangError> {
        Self::load(connection, source, Term::atom("none"), Compiled::Quickly)
    }

    /// Compiles and loads a module and starts its agent with these options, a map.
    pub fn agent(
        connection: &'a Connection,
        source: ModuleSource,
        compiled: Compiled,
        options: Term,
    ) -> Result<Self, ErlangError> {
        let start = Term::tuple([Term::atom("options"), options]);
        Self::load(connection, source, start, compiled)
    }

    /// Loads the module under a random name, and tries another name if the node has a module of that name.
    fn load(
        connection: &'a Connection,
        source: ModuleSource,
        start: Term,
        compiled: Compiled,
    ) -> Result<Self, ErlangError> {
        for _ in 0..2 {
            let module = unique(&format!("{}_", source.name));
            match Self::load_as(module, connection, source, start.clone(), compiled) {
                Err(ErlangError::ModuleTaken { .. }) => {}
                done => return done,
            }
        }
        let module = unique(&format!("{}_", source.name));
        Self::load_as(module, connection, source, start, compiled)
    }

    fn load_as(
        module: String,
        connection: &'a Connection,
        source: ModuleSource,
        start: Term,
        compiled: Compiled,
    ) -> Result<Self, ErlangError> {
        let began = Instant::now();
        let mailbox = connection.mailbox();
        let text = renamed(source, &module);
        let dead_man_ms = connection.dead_man().as_millis();
        let bindings = [
            ("Controller", mailbox.pid().clone().into()),
            ("Module", Term::atom(&module)),
            ("Source", Term::Binary(text.into_bytes())),
            ("Options", compiler_options(compiled)),
            ("Start", start),
            ("DeadmanMs", Term::Integer(dead_man_ms.try_into().unwrap_or(i64::MAX))),
        ];
        let keeper = connection.evaluate(KEEPER, &bindings, LOAD_TIMEOUT)?;
        let keeper = keeper.as_pid().ok_or_else(|| ErlangError::unexpected("spawn/1", &keeper))?;
        let renewal = connection.renew(keeper, Term::atom("alive"));
        let mut loaded = Self {
            connection,
            mailbox,
            module,
            keeper: keeper.clone(),
            agent: None,
            renewal,
            ended: None,
        };
        loaded.await_loading(LOAD_TIMEOUT.saturating_sub(began.elapsed()))?;
        Ok(loaded)
    }

    fn await_loading(&mut self, within: Duration) -> Result<(), ErlangError> {
        let said = self.mailbox.receive_map(within, |received| said_by_keeper(&received))?;
        let refused = |reason: String| ErlangError::Load {
            node: self.connection.node().to_owned(),
            module: self.module.clone(),
            reason: shortened(&reason),
        };
        match said {
            None => Err(ErlangError::NoAnswer {
                node: self.connection.node().to_owned(),
                asked: format!("loading {}", self.module),
                within,
            }),
            Some((what, agent)) if what == "loaded" => {
                self.agent = agent.as_pid().cloned();
                Ok(())
            }
            Some((what, name)) if what == "taken" => {
                self.ended = Some(Ended { reason: name });
                Err(ErlangError::ModuleTaken {
                    node: self.connection.node().to_owned(),
                    module: self.module.clone(),
                })
            }
            Some((_, reason)) => {
                let reason = reason.to_text().unwrap_or_else(|| reason.to_string());
                self.ended = Some(Ended { reason: Term::text(&reason) });
                Err(refused(reason))
            }
        }
    }

    /// The module's name on the node.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// The agent's pid, if the module has an agent.
    pub fn pid(&self) -> Option<&Pid> {
        self.agent.as_ref()
    }

    /// The connection.
    pub fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Calls a function of the module.
    pub fn call(
        &self,
        function: &str,
        arguments: Vec<Term>,
        within: Duration,
    ) -> Result<Term, ErlangError> {
        self.connection.call(&self.module, function, arguments, within)
    }

    pub(super) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Receives the next message for the controller. The end of agent or keeper is an error.
    pub(super) fn receive(&mut self, within: Duration) -> Result<Option<Term>, ErlangError> {
        match self.mailbox.receive(within)? {
            Some(Received::Message(message)) => match said_by_keeper_in(&message) {
                Some((_, reason)) => {
                    self.ended = Some(Ended { reason: reason.clone() });
                    Err(self.gone(&reason))
                }
                None => Ok(Some(message)),
            },
            _ => Ok(None),
        }
    }

    fn gone(&self, reason: &Term) -> ErlangError {
        ErlangError::AgentGone {
            node: self.connection.node().to_owned(),
            reason: match reason.as_atom() {
                Some("deadman") => {
                    let silence = self.connection.dead_man().as_secs_f64();
                    format!("it received nothing from this program for {silence} s")
                }
                _ => shortened(&reason.to_string()),
            },
        }
    }

    /// Removes the module and waits until it is gone.
    pub fn end(mut self) -> Result<Ended, ErlangError> {
        self.end_now()
    }

    fn end_now(&mut self) -> Result<Ended, ErlangError> {
        if let Some(ended) = &self.ended {
            return Ok(ended.clone());
        }
        self.mailbox.send(&self.keeper, Term::atom("stop"))?;
        let said = self.mailbox.receive_map(REMOVAL_TIMEOUT, |received| {
            said_by_keeper(&received).filter(|(what, _)| what == "ended")
        })?;
        let ended = said.map(|(_, reason)| Ended { reason });
        let ended = ended.ok_or_else(|| ErlangError::NoAnswer {
            node: self.connection.node().to_owned(),
            asked: format!("removing {}", self.module),
            within: REMOVAL_TIMEOUT,
        })?;
        self.ended = Some(ended.clone());
        Ok(ended)
    }
}

impl Drop for Loaded<'_> {
    /// The keeper removes the module even if the removal fails or takes too long here.
    fn drop(&mut self) {
        let _ = self.end_now();
        self.connection.command(Command::StopRenewing(self.renewal));
    }
}

/// The degree of optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiled {
    /// Fast code, which takes a third of a second or more to compile. The compiler does not track types: on OTP 27 that
    /// took up to 82 MB of the node instead of 47. The speed that types would gain was not measured.
    Well,
    /// Code that compiles quickly, for modules that leave the work to functions of the node. Optimising them would take
    /// longer than it saves.
    Quickly,
}

fn compiler_options(compiled: Compiled) -> Term {
    const UNOPTIMISED: [&str; 11] = [
        "no_copt",
        "no_postopt",
        "no_bool_opt",
        "no_share_opt",
        "no_bsm_opt",
        "no_ssa_opt",
        "no_type_opt",
        "no_recv_opt",
        "no_fun_opt",
        "no_module_opt",
        "no_line_info",
    ];
    match compiled {
        Compiled::Quickly => UNOPTIMISED.map(Term::atom).to_vec().into(),
        Compiled::Well => ["no_type_opt", "no_module_opt"].map(Term::atom).to_vec().into(),
    }
}

fn said_by_keeper(received: &Received) -> Option<(String, Term)> {
    if let Received::Message(message) = received { said_by_keeper_in(message) } else { None }
}

fn said_by_keeper_in(message: &Term) -> Option<(String, Term)> {
    let [what, reason] = message.as_tagged("rabbitscope_keeper")? else { return None };
    Some((what.as_atom()?.to_owned(), reason.clone()))
}

/// Renames the module in its source to its name on the node.
fn renamed(source: ModuleSource, module: &str) -> String {
    let attribute = |name: &str| format!("-module({name}).");
    source
        .text
        .replacen(&attribute(source.name), &attribute(module), 1)
        .replace(MODULE_MACRO, module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_gets_another_name() {
        let source =
            ModuleSource { name: "a", text: "%% ?MODULE\n-module(a).\nf() -> ?MODULE:g(a)." };
        assert_eq!(renamed(source, "a_1"), "%% a_1\n-module(a_1).\nf() -> a_1:g(a).");
    }
}
