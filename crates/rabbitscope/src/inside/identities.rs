//! What the processes of a recording are for, asked from the node: once before it, of the tables
//! only, so that nobody is disturbed and what ends meanwhile is known; once after it, of the processes
//! that were seen.

use std::{collections::BTreeSet, time::Duration};

use anyhow::Context;
use rabbitscope_broker::Broker;
use rabbitscope_data::profile::{GONE, Identities, Identity, Profile};
use rabbitscope_erlang::{
    ConnectOptions, Connection, CookieSource, ErlangError, Loaded, NodeName, Port,
    Source as Module, Term,
};

const MODULE: Module = Module {
    name: "rabbitscope_who",
    text: concat!(
        include_str!("../../../../agent/rabbitscope_who.erl"),
        include_str!("../../../../agent/tables.erl"),
        include_str!("../../../../agent/queue_table.erl"),
        include_str!("../../../../agent/roles.erl"),
    ),
};

/// A busy node with many thousand processes.
const WITHIN: Duration = Duration::from_secs(30);

/// Processes that are asked for in one call.
const AT_ONCE: usize = 5_000;

/// How to get to a node of this machine: to a throwaway one with its own cookie and port mapper.
pub(crate) fn local_node(pid: u32, throwaway: Option<&Broker>) -> anyhow::Result<ConnectOptions> {
    if let Some(broker) = throwaway {
        let (home, epmd_port) = broker.distribution();
        return Ok(ConnectOptions {
            cookie: CookieSource::File(home.join(".erlang.cookie")),
            port: Port::Mapped(epmd_port),
            ..ConnectOptions::new(NodeName::parse(&broker.node_name())?)
        });
    }
    let node = rabbitscope_probe::list_nodes()?.into_iter().find(|node| node.pid == pid);
    let name = node.and_then(|node| node.name).context("the node's name cannot be told")?;
    Ok(ConnectOptions::new(NodeName::parse(&name)?))
}

/// Asks a node, or says why it cannot be asked.
#[derive(Debug)]
pub(crate) struct Namer {
    connected: Result<(Connection, Identities), String>,
}

impl Namer {
    /// Connects and reads the tables. That this fails is no reason not to record.
    pub(crate) fn start(options: anyhow::Result<ConnectOptions>) -> Self {
        let connected = options
            .and_then(|options| {
                let connection = Connection::open(&options)?;
                let known = read(&connection, "tables", &[vec![]])?;
                Ok((connection, known))
            })
            .map_err(|error| error.to_string());
        Self { connected }
    }

    /// Gives the profiles what is known of their processes; their notes say what is not.
    pub(crate) fn name(self, profiles: &mut [Profile]) {
        match self.connected {
            Ok((connection, known)) => name(&connection, known, profiles),
            Err(reason) => note(profiles, &reason),
        }
    }
}

fn name(connection: &Connection, mut known: Identities, profiles: &mut [Profile]) {
    let seen: BTreeSet<String> = profiles.iter().flat_map(pids_of).collect();
    let seen: Vec<Term> = seen.iter().map(|pid| Term::text(pid)).collect();
    let asked: Vec<Vec<Term>> =
        seen.chunks(AT_ONCE).map(|pids| vec![Term::list(pids.to_vec())]).collect();
    match read(connection, "processes", &asked) {
        Ok(answers) => {
            for (pid, identity) in answers {
                if identity.role == GONE {
                    known.entry(pid).or_insert(identity);
                } else {
                    known.insert(pid, identity);
                }
            }
        }
        Err(error) => note(profiles, &error.to_string()),
    }
    for profile in profiles {
        let of_profile = pids_of(profile).filter_map(|pid| Some((known.get(&pid)?.clone(), pid)));
        profile.identities = of_profile.map(|(identity, pid)| (pid, identity)).collect();
    }
}

fn pids_of(profile: &Profile) -> impl Iterator<Item = String> {
    profile.samples.iter().filter_map(|sample| sample.labels.process.clone())
}

fn note(profiles: &mut [Profile], reason: &str) {
    for profile in profiles {
        profile.capture.notes.push(format!(
            "processes are known by pid alone, or by what was known at the start: {reason}"
        ));
    }
}

/// Loads the module, calls the function with each of these arguments, and removes the module again.
fn read(
    connection: &Connection,
    function: &str,
    calls: &[Vec<Term>],
) -> Result<Identities, ErlangError> {
    let module = Loaded::functions(connection, MODULE)?;
    let mut found = Identities::new();
    for arguments in calls {
        connection.call_in_parts(
            module.module(),
            function,
            arguments.clone(),
            WITHIN,
            &mut |part| {
                take(&part, &mut found).ok_or_else(|| ErlangError::unexpected("processes", &part))
            },
        )?;
    }
    module.end()?;
    Ok(found)
}

fn take(part: &Term, found: &mut Identities) -> Option<()> {
    for row in part.as_tagged("rows")?.first()?.as_list()? {
        let [pid, role, name, vhost, connection] = row.as_tuple()? else { return None };
        let identity = Identity {
            role: role.as_atom()?.to_owned(),
            name: name.to_text()?,
            vhost: vhost.to_text()?,
            connection: connection.to_text()?,
        };
        found.insert(pid.to_text()?, identity);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_as_the_node_sends_them() {
        let text = Term::text;
        let row =
            Term::tuple([text("<0.9.0>"), Term::atom("queue"), text("q"), text("/"), text("")]);
        let mut found = Identities::new();
        let part = Term::tuple([Term::atom("rows"), Term::list([row])]);
        assert_eq!(take(&part, &mut found), Some(()));
        let identity = &found["<0.9.0>"];
        assert_eq!((identity.role.as_str(), identity.name.as_str()), ("queue", "q"));
        assert_eq!(take(&Term::list([]), &mut found), None);
    }
}
