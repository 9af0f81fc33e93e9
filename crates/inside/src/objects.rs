//! Exchanges, queues, bindings, policies and consumers of a node, by the module `agent/rabbitscope_workload.erl`.

use std::{collections::BTreeMap, time::Duration};

use rabbitscope_erlang::{Connection, ErlangError, Loaded, ModuleSource, Term};

/// Timeout of a request to a busy node with many thousand objects.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum of bytes of all objects together.
const MAX_BYTES: usize = 256 << 20;

/// Objects of a node, and the messages that it counts, as JSON.
#[derive(Clone, Debug)]
pub struct NodeLoad {
    /// The lists of a definitions file, without users and parameters, and lists of connections and consumers.
    pub objects: String,
    /// Messages of channels and received bytes of connections, as the node counted them so far.
    pub traffic: String,
}

/// Reads the objects of a node, and the messages that it counts.
pub fn read_load(connection: &Connection) -> Result<NodeLoad, ErlangError> {
    let module = Loaded::functions(connection, ModuleSource::WORKLOAD)?;
    let objects = read(connection, module.module(), "objects");
    let traffic = objects.is_ok().then(|| read(connection, module.module(), "traffic"));
    let ended = module.end().map(drop);
    let load = NodeLoad { objects: objects?, traffic: traffic.transpose()?.unwrap_or_default() };
    ended.map(|()| load)
}

/// Reads the objects of a node, as JSON.
pub fn read_objects(connection: &Connection) -> Result<String, ErlangError> {
    read_once(connection, "objects")
}

/// Reads the messages that a node counts, as JSON.
pub fn read_traffic(connection: &Connection) -> Result<String, ErlangError> {
    read_once(connection, "traffic")
}

fn read_once(connection: &Connection, function: &'static str) -> Result<String, ErlangError> {
    let module = Loaded::functions(connection, ModuleSource::WORKLOAD)?;
    let rows = read(connection, module.module(), function);
    let ended = module.end().map(drop);
    let rows = rows?;
    ended.map(|()| rows)
}

fn read(
    connection: &Connection,
    module: &str,
    function: &'static str,
) -> Result<String, ErlangError> {
    let mut lists = Lists::default();
    connection.call_in_parts(module, function, vec![], READ_TIMEOUT, &mut |part| {
        lists.add(&part).ok_or_else(|| ErlangError::unexpected(function, &part))
    })?;
    Ok(lists.into_json())
}

/// Rows by the name of their list.
#[derive(Debug, Default)]
struct Lists {
    rows: BTreeMap<String, Vec<String>>,
    bytes: usize,
}

impl Lists {
    /// Adds the rows of a part. Rows beyond [`MAX_BYTES`] are refused.
    fn add(&mut self, part: &Term) -> Option<()> {
        for row in part.as_tagged("rows")?.first()?.as_list()? {
            let [kind, json] = row.as_tuple()? else { return None };
            let json = json.to_text()?;
            self.bytes += json.len();
            if self.bytes > MAX_BYTES {
                return None;
            }
            self.rows.entry(kind.as_atom()?.to_owned()).or_default().push(json);
        }
        Some(())
    }

    fn into_json(self) -> String {
        let lists = self.rows.into_iter();
        let lists = lists.map(|(kind, rows)| format!("\"{kind}\":[{}]", rows.join(",")));
        format!("{{{}}}", lists.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_lists() {
        let row = |kind: &str, json: &str| Term::tuple([Term::atom(kind), Term::text(json)]);
        let rows = [row("queues", r#"{"name":"a"}"#), row("queues", r#"{"name":"b"}"#)];
        let part = Term::tuple([Term::atom("rows"), Term::list(rows)]);
        let mut lists = Lists::default();
        assert_eq!(lists.add(&part), Some(()));
        assert_eq!(lists.into_json(), r#"{"queues":[{"name":"a"},{"name":"b"}]}"#);
        assert_eq!(Lists::default().add(&Term::atom("rows")), None);
    }
}
