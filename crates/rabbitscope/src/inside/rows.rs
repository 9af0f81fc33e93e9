//! Rows of queues, put together from what the node's agent sends: `agent/rabbitscope_queues.erl` says
//! in which form. What is not here: asking for it.

use std::collections::HashMap;

use rabbitscope_erlang::Term;

use super::{Missing, QueueRow};

/// Virtual host and name.
pub(super) type Place = (Vec<u8>, Vec<u8>);

/// Of the queues that tell when they write: what they wrote the last time.
pub(super) type Remembered = HashMap<Place, Written>;

/// What a classic queue writes beside its depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// Work that the queue had done until then.
    reductions: u64,
    infos: Infos,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Infos {
    state: Option<String>,
    consumers: Option<u64>,
    memory_bytes: Option<u64>,
}

/// Rows as they come, and where each queue's is.
#[derive(Default)]
pub(super) struct Rows {
    all: Vec<QueueRow>,
    /// For each row.
    reductions: Vec<Option<u64>>,
    places: HashMap<Place, usize>,
}

impl Rows {
    /// Takes in a part; `None` if it is none.
    pub(super) fn take(&mut self, part: &Term) -> Option<()> {
        let [what, found] = part.as_tuple()? else { return None };
        let found = found.as_list()?.iter();
        match what.as_atom()? {
            "names" => found.map(|row| self.name(row)).collect(),
            "rows" => {
                self.all.extend(found.map(row_of).collect::<Option<Vec<_>>>()?);
                Some(())
            }
            "depths" => found.map(|row| self.depth(row)).collect(),
            "infos" => found.map(|row| self.infos(row)).collect(),
            _ => None,
        }
    }

    fn name(&mut self, row: &Term) -> Option<()> {
        let fields @ [_, _, _, _] = row.as_tuple()? else { return None };
        self.places.insert(place_of(fields)?, self.all.len());
        self.all.push(empty(fields)?);
        self.reductions.push(None);
        Some(())
    }

    /// What is not wanted has no name here.
    fn depth(&mut self, row: &Term) -> Option<()> {
        let fields @ [_, _, ready, unacknowledged, reductions] = row.as_tuple()? else {
            return None;
        };
        if let Some(&at) = self.places.get(&place_of(fields)?) {
            let row = &mut self.all[at];
            (row.ready, row.unacknowledged) = (ready.as_u64(), unacknowledged.as_u64());
            self.reductions[at] = reductions.as_u64();
        }
        Some(())
    }

    fn infos(&mut self, row: &Term) -> Option<()> {
        let fields @ [_, _, state, consumers, memory] = row.as_tuple()? else { return None };
        if let Some(&at) = self.places.get(&place_of(fields)?) {
            let infos = Infos {
                state: known(state),
                consumers: consumers.as_u64(),
                memory_bytes: memory.as_u64(),
            };
            infos.put(&mut self.all[at]);
        }
        Some(())
    }

    /// Fills in what is remembered and still so; says of which queues of this node it is not.
    pub(super) fn recall(&mut self, remembered: &Remembered, node: &str) -> Vec<Place> {
        let mut unknown = Vec::new();
        for (place, &at) in &self.places {
            let row = &mut self.all[at];
            match remembered.get(place) {
                Some(written) if Some(written.reductions) == self.reductions[at] => {
                    written.infos.put(row);
                }
                _ if row.node == node => unknown.push(place.clone()),
                _ => {}
            }
        }
        unknown
    }

    /// What is to be remembered.
    pub(super) fn memory(&self) -> Remembered {
        let written = |(place, &at): (&Place, &usize)| {
            let row = &self.all[at];
            let reductions = self.reductions[at].filter(|_| row.kind == "classic")?;
            Some((place.clone(), Written { reductions, infos: Infos::of(row) }))
        };
        self.places.iter().filter_map(written).collect()
    }

    /// All rows. What has no figures although its leader is on this node is new, and not missing.
    pub(super) fn of_node(mut self, node: &str) -> Vec<QueueRow> {
        for &at in self.places.values() {
            let row = &mut self.all[at];
            let empty = row.ready.is_none() && row.state.is_none();
            row.missing = (empty && row.node != node).then_some(Missing::NotHere);
        }
        self.all
    }
}

impl Infos {
    fn of(row: &QueueRow) -> Self {
        let (consumers, memory_bytes) = (row.consumers, row.memory_bytes);
        Self { state: row.state.clone(), consumers, memory_bytes }
    }

    fn put(&self, row: &mut QueueRow) {
        row.state.clone_from(&self.state);
        (row.consumers, row.memory_bytes) = (self.consumers, self.memory_bytes);
    }
}

/// Every row begins with them.
fn place_of(fields: &[Term]) -> Option<Place> {
    let [vhost, name, ..] = fields else { return None };
    Some((vhost.as_binary()?.to_vec(), name.as_binary()?.to_vec()))
}

/// The name of a state.
fn known(state: &Term) -> Option<String> {
    state.as_atom().filter(|state| !["unknown", ""].contains(state)).map(str::to_owned)
}

/// A row with its figures, or the reason why there are none.
fn row_of(term: &Term) -> Option<QueueRow> {
    let fields @ [_, _, _, _, figures] = term.as_tuple()? else { return None };
    let empty = empty(fields)?;
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

/// A queue without its figures.
fn empty(fields: &[Term]) -> Option<QueueRow> {
    let [vhost, name, module, process, ..] = fields else { return None };
    Some(QueueRow {
        name: name.to_text()?,
        vhost: vhost.to_text()?,
        kind: kind(module.as_atom()?).to_owned(),
        node: node_of(process).unwrap_or_default(),
        state: None,
        ready: None,
        unacknowledged: None,
        consumers: None,
        memory_bytes: None,
        missing: None,
    })
}

/// The type as users know it, by the module that implements it.
fn kind(module: &str) -> &str {
    let known = module.strip_prefix("rabbit_").and_then(|rest| rest.strip_suffix("_queue"));
    known.unwrap_or(module)
}

/// A queue is a process, or the name of one and its node; some have none for a moment.
fn node_of(process: &Term) -> Option<String> {
    match process.as_tuple() {
        Some([_, node]) => node.as_atom().map(str::to_owned),
        _ => Some(process.as_pid()?.node.as_str().to_owned()),
    }
}

fn missing(word: &str) -> Option<Missing> {
    match word {
        "no_answer" => Some(Missing::NoAnswer),
        "not_asked" => Some(Missing::NotAsked),
        "gone" => Some(Missing::Gone),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple<const N: usize>(vhost: &str, name: &str, more: &[Term; N]) -> Term {
        Term::tuple([vec![Term::text(vhost), Term::text(name)], more.to_vec()].concat())
    }

    fn part(what: &str, row: Term) -> Term {
        Term::tuple([Term::atom(what), Term::list([row])])
    }

    fn name(module: &str) -> Term {
        let process = Term::tuple([Term::atom("q"), Term::atom("a@b")]);
        part("names", tuple("/", "q", &[Term::atom(module), process]))
    }

    fn depth(ready: i64, reductions: i64) -> Term {
        part("depths", tuple("/", "q", &[ready.into(), 0.into(), reductions.into()]))
    }

    fn infos(consumers: i64) -> Term {
        part("infos", tuple("/", "q", &[Term::atom("running"), consumers.into(), 7.into()]))
    }

    fn rows(parts: &[Term]) -> Rows {
        let mut rows = Rows::default();
        let taken: Option<()> = parts.iter().map(|part| rows.take(part)).collect();
        taken.unwrap();
        rows
    }

    #[test]
    fn what_a_queue_wrote_is_known_until_it_writes_again() {
        fn check(module: &str, reductions: i64, asked: usize, consumers: Option<u64>) {
            let first = rows(&[name(module), infos(3), depth(1, 1000)]);
            let mut next = rows(&[name(module), depth(2, reductions)]);
            assert_eq!(next.recall(&first.memory(), "a@b").len(), asked, "{module} {reductions}");
            let row = next.of_node("a@b").remove(0);
            assert_eq!((row.ready, row.consumers), (Some(2), consumers));
        }
        check("rabbit_classic_queue", 1000, 0, Some(3));
        check("rabbit_classic_queue", 1001, 1, None);
        check("rabbit_quorum_queue", 1000, 1, None);
    }

    #[test]
    fn of_another_node_there_is_nothing_to_ask() {
        let mut rows = rows(&[name("rabbit_classic_queue")]);
        assert!(rows.recall(&Remembered::new(), "c@d").is_empty());
        assert_eq!(rows.of_node("c@d")[0].missing, Some(Missing::NotHere));
        let new = super::tests::rows(&[name("rabbit_classic_queue")]);
        assert_eq!(new.of_node("a@b")[0].missing, None);
    }

    #[test]
    fn rows_as_the_node_sends_them() {
        let process = Term::tuple([Term::atom("q"), Term::atom("a@b")]);
        let row = |figures: Term| {
            row_of(&tuple("/", "q", &[Term::atom("rabbit_stream_queue"), process.clone(), figures]))
        };
        let unknown = || Term::atom("unknown");
        let figures = Term::tuple([unknown(), 1.into(), 2.into(), unknown(), 4.into()]);
        let read = row(figures).unwrap();
        assert_eq!((read.state, read.ready, read.consumers), (None, Some(1), None));
        assert_eq!((read.kind.as_str(), read.node.as_str()), ("stream", "a@b"));
        assert_eq!(row(Term::atom("no_answer")).unwrap().missing, Some(Missing::NoAnswer));
        assert_eq!(row(Term::atom("else")), None);
        assert_eq!(row_of(&Term::Integer(1)), None);
    }
}
