//! Reads queues through functions that were loaded into the node.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{Connection, ErlangError, Loaded, Source as Module, Term};

use super::{Listing, Missing, QueueRow, Source, Wanted};

const MODULE: Module = Module {
    name: "rabbitscope_queues",
    text: include_str!("../../../../agent/rabbitscope_queues.erl"),
};

/// The node's tables can be read even by a node that is very busy.
const TABLES: Duration = Duration::from_secs(30);

/// Beyond the deadline that the node itself keeps.
const GRACE: Duration = Duration::from_secs(5);

/// Queues of one node.
#[derive(Debug)]
pub(crate) struct QueueReader<'a> {
    module: Loaded<'a>,
}

impl<'a> QueueReader<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Result<Self, ErlangError> {
        Ok(Self { module: Loaded::functions(connection, MODULE)? })
    }

    /// What the queues wrote into the node's tables the last time.
    pub(crate) fn read_tables(&self, wanted: &Wanted) -> Result<Listing, ErlangError> {
        let arguments = filters(wanted).to_vec();
        self.read("tables", arguments, TABLES, Source::Tables)
    }

    /// What the queues answer within this time.
    pub(crate) fn ask_queues(
        &self,
        wanted: &Wanted,
        within: Duration,
    ) -> Result<Listing, ErlangError> {
        let limit_ms = i64::try_from(within.as_millis()).unwrap_or(i64::MAX);
        let arguments = vec![Term::tuple(filters(wanted)), limit_ms.into()];
        self.read("processes", arguments, within + GRACE, Source::Queues)
    }

    /// Removes what was loaded, and waits until it is gone.
    pub(crate) fn end(self) -> Result<(), ErlangError> {
        self.module.end().map(drop)
    }

    fn read(
        &self,
        function: &str,
        arguments: Vec<Term>,
        within: Duration,
        source: Source,
    ) -> Result<Listing, ErlangError> {
        let began = Instant::now();
        let connection = self.module.connection();
        let mut rows = Rows::default();
        let module = self.module.module();
        let facts = connection.call_in_parts(module, function, arguments, within, &mut |part| {
            rows.take(&part).ok_or_else(|| ErlangError::unexpected("queues", &part))
        })?;
        let fact = |key: &str| {
            facts.get(key).ok_or_else(|| ErlangError::unexpected("facts about statistics", &facts))
        };
        Ok(Listing {
            node: connection.node().to_owned(),
            source,
            age_limit_ms: fact("interval_ms")?.as_u64().unwrap_or_default(),
            statistics: !fact("statistics")?.is_atom("none"),
            took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            rows: rows.of_node(connection.node()),
        })
    }
}

/// Rows as they come, and where each queue's is. Figures from the tables come after the names.
#[derive(Default)]
struct Rows {
    rows: Vec<QueueRow>,
    places: HashMap<Place, usize>,
}

impl Rows {
    fn take(&mut self, part: &Term) -> Option<()> {
        let [what, found] = part.as_tuple()? else { return None };
        let found = found.as_list()?.iter();
        match what.as_atom()? {
            "names" => found.map(|row| self.name(row)).collect(),
            "rows" => {
                self.rows.extend(found.map(row_of).collect::<Option<Vec<_>>>()?);
                Some(())
            }
            "depths" => found.map(|row| self.depth(row)).collect(),
            "infos" => found.map(|row| self.info(row)).collect(),
            _ => None,
        }
    }

    fn name(&mut self, row: &Term) -> Option<()> {
        let place = place_of(row.as_tuple()?)?;
        self.places.insert(place, self.rows.len());
        self.rows.push(row_of(row)?);
        Some(())
    }

    /// The row of a queue, if that queue is wanted.
    fn at(&mut self, place: &Place) -> Option<&mut QueueRow> {
        self.rows.get_mut(*self.places.get(place)?)
    }

    fn depth(&mut self, row: &Term) -> Option<()> {
        let fields @ [_, _, ready, unacknowledged] = row.as_tuple()? else { return None };
        if let Some(row) = self.at(&place_of(fields)?) {
            (row.ready, row.unacknowledged) = (ready.as_u64(), unacknowledged.as_u64());
        }
        Some(())
    }

    fn info(&mut self, row: &Term) -> Option<()> {
        let fields @ [_, _, state, consumers, memory] = row.as_tuple()? else { return None };
        if let Some(row) = self.at(&place_of(fields)?) {
            row.state = known(state);
            (row.consumers, row.memory_bytes) = (consumers.as_u64(), memory.as_u64());
        }
        Some(())
    }

    /// What has no figures although its leader is on this node is new, and not missing.
    fn of_node(mut self, node: &str) -> Vec<QueueRow> {
        for row in &mut self.rows {
            if row.missing == Some(Missing::NotHere) && row.node == node {
                row.missing = None;
            }
        }
        self.rows
    }
}

/// Virtual host and name.
type Place = (Vec<u8>, Vec<u8>);

/// Every row begins with them.
fn place_of(fields: &[Term]) -> Option<Place> {
    let [vhost, name, ..] = fields else { return None };
    Some((vhost.as_binary()?.to_vec(), name.as_binary()?.to_vec()))
}

/// The name of a state.
fn known(state: &Term) -> Option<String> {
    state.as_atom().filter(|state| *state != "unknown").map(str::to_owned)
}

fn filters(wanted: &Wanted) -> [Term; 2] {
    [&wanted.vhost, &wanted.name]
        .map(|text| text.as_ref().map_or_else(|| Term::atom("all"), |text| Term::text(text)))
}

fn row_of(term: &Term) -> Option<QueueRow> {
    let [vhost, name, kind, node, figures] = term.as_tuple()? else { return None };
    let empty = QueueRow {
        name: name.to_text()?,
        vhost: vhost.to_text()?,
        kind: kind.as_atom()?.to_owned(),
        node: node.as_atom()?.to_owned(),
        state: None,
        ready: None,
        unacknowledged: None,
        consumers: None,
        memory_bytes: None,
        missing: None,
    };
    match figures.as_tuple() {
        Some([state, ready, unacknowledged, consumers, memory]) => Some(QueueRow {
            state: known(state),
            ready: ready.as_u64(),
            unacknowledged: unacknowledged.as_u64(),
            consumers: consumers.as_u64(),
            memory_bytes: memory.as_u64(),
            ..empty
        }),
        _ => Some(QueueRow { missing: Some(missing(figures.as_atom()?)?), ..empty }),
    }
}

fn missing(word: &str) -> Option<Missing> {
    match word {
        "not_here" => Some(Missing::NotHere),
        "no_answer" => Some(Missing::NoAnswer),
        "not_asked" => Some(Missing::NotAsked),
        "gone" => Some(Missing::Gone),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_as_the_node_sends_them() {
        let row = |figures: Term| {
            row_of(&Term::tuple([
                Term::text("/"),
                Term::text("q"),
                Term::atom("classic"),
                Term::atom("a@b"),
                figures,
            ]))
        };
        let unknown = || Term::atom("unknown");
        let figures = Term::tuple([unknown(), 1.into(), 2.into(), unknown(), 4.into()]);
        let read = row(figures).unwrap();
        assert_eq!((read.state, read.ready, read.consumers), (None, Some(1), None));
        assert_eq!(row(Term::atom("no_answer")).unwrap().missing, Some(Missing::NoAnswer));
        assert_eq!(row(Term::atom("else")), None);
        assert_eq!(row_of(&Term::Integer(1)), None);
    }
}
