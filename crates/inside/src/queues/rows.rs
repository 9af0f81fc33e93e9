//! Rows of queues from the messages of the node's agent; `agent/rabbitscope_queues.erl` describes their form. Not here:
//! the requests.

use std::sync::Arc;

use rabbitscope_erlang::Term;

use super::{
    MissingReason, QueueRow,
    cache::{CachedQueue, QueueCache, QueueInfos, QueueKey, WrittenInfos, join},
    shared_strings::SharedStrings,
};

/// The rows of one reading.
#[derive(Debug, Default)]
pub(super) struct Rows {
    cache: QueueCache,
    found: Vec<QueueRow>,
    /// Reductions of the queue's process, per row.
    reductions: Vec<Option<u64>>,
    /// Buffer for the key of a queue.
    key: Vec<u8>,
    strings: SharedStrings,
}

impl Rows {
    /// Starts a reading with the results of the previous one.
    pub(super) fn after(cache: QueueCache) -> Self {
        let found = cache.queues.len();
        Self {
            cache: cache.next_reading(),
            found: Vec::with_capacity(found),
            reductions: Vec::with_capacity(found),
            key: Vec::new(),
            strings: SharedStrings::default(),
        }
    }

    /// Adds the content of a message; `None` if its form is unknown.
    pub(super) fn add(&mut self, message: &Term) -> Option<()> {
        let [what, found] = message.as_tuple()? else { return None };
        let found = found.as_list()?.iter();
        match what.as_atom()? {
            "names" => found.map(|row| self.add_name(row)).collect(),
            "dead" => found.map(|row| self.add_dead(row)).collect(),
            "rows" => found.map(|row| self.add_row(row)).collect(),
            "depths" => found.map(|row| self.add_depth(row)).collect(),
            "infos" => found.map(|row| self.add_infos(row)).collect(),
            _ => None,
        }
    }

    fn add_name(&mut self, row: &Term) -> Option<()> {
        let fields @ [vhost, name, _, _] = row.as_tuple()? else { return None };
        join(vhost, name, &mut self.key)?;
        let QueueCache { queues, reading } = &mut self.cache;
        let (reading, row) = (*reading, self.found.len());
        let name = if let Some(queue) = queues.get_mut(self.key.as_slice()) {
            (queue.reading, queue.row) = (reading, row);
            Arc::clone(&queue.name)
        } else {
            let name = Arc::from(name.to_text()?);
            let (key, copy) = (self.key.as_slice().into(), Arc::clone(&name));
            queues.insert(key, CachedQueue { name: copy, reading, row, written: None });
            name
        };
        self.found.push(row_without_figures(name, fields, &mut self.strings)?);
        self.reductions.push(None);
        Some(())
    }

    /// Marks a queue whose process should be on the node but does not exist.
    fn add_dead(&mut self, row: &Term) -> Option<()> {
        let [vhost, name] = row.as_tuple()? else { return None };
        join(vhost, name, &mut self.key)?;
        if let Some(at) = self.cache.row(&self.key) {
            self.found[at].missing = Some(MissingReason::Down);
        }
        Some(())
    }

    /// Adds a row with its figures, or with the reason for their absence.
    fn add_row(&mut self, term: &Term) -> Option<()> {
        let fields @ [_, _, _, _, figures] = term.as_tuple()? else { return None };
        let strings = &mut self.strings;
        let mut row = row_without_figures(fields[1].to_text()?.into(), fields, strings)?;
        match figures.as_tuple() {
            Some([state, ready, unacknowledged, consumers, memory]) => {
                (row.ready, row.unacknowledged) = (ready.as_u64(), unacknowledged.as_u64());
                QueueInfos::read(state, consumers, memory, strings).write_to(&mut row);
            }
            _ => row.missing = Some(missing_reason(figures.as_atom()?)?),
        }
        self.found.push(row);
        Some(())
    }

    /// Adds the depth of a queue. Ignores a queue that has no row because the filter has excluded it.
    fn add_depth(&mut self, row: &Term) -> Option<()> {
        let [vhost, name, ready, unacknowledged, reductions] = row.as_tuple()? else {
            return None;
        };
        join(vhost, name, &mut self.key)?;
        if let Some(at) = self.cache.row(&self.key) {
            let row = &mut self.found[at];
            (row.ready, row.unacknowledged) = (ready.as_u64(), unacknowledged.as_u64());
            self.reductions[at] = reductions.as_u64();
        }
        Some(())
    }

    fn add_infos(&mut self, row: &Term) -> Option<()> {
        let [vhost, name, state, consumers, memory] = row.as_tuple()? else { return None };
        join(vhost, name, &mut self.key)?;
        if let Some(at) = self.cache.row(&self.key) {
            QueueInfos::read(state, consumers, memory, &mut self.strings)
                .write_to(&mut self.found[at]);
        }
        Some(())
    }

    /// Fills in cached figures that are still valid. Returns the queues of this node without valid figures.
    pub(super) fn fill_from_cache(&mut self, node: &str) -> Vec<QueueKey> {
        let mut unknown = Vec::new();
        let QueueCache { queues, reading } = &self.cache;
        for (key, queue) in queues.iter().filter(|(_, queue)| queue.reading == *reading) {
            let row = &mut self.found[queue.row];
            let reductions = self.reductions[queue.row];
            match queue.written.as_ref().filter(|written| Some(written.reductions) == reductions) {
                Some(written) => written.infos.write_to(row),
                None if *row.node == *node => unknown.push(key.clone()),
                None => {}
            }
        }
        unknown
    }

    /// Returns all rows of the node, and the cache for the next reading.
    ///
    /// A queue without figures whose leader is on this node is new, so its figures are not missing. A queue that does
    /// not run has no figures at all.
    pub(super) fn finish(mut self, node: &str, running: &[String]) -> (Vec<QueueRow>, QueueCache) {
        let QueueCache { queues, reading } = &mut self.cache;
        queues.retain(|_, queue| queue.reading == *reading);
        for queue in queues.values_mut() {
            let row = &mut self.found[queue.row];
            if row.missing == Some(MissingReason::Down) || !runs(&row.node, running) {
                mark_down(row);
                continue;
            }
            let empty = row.ready.is_none() && row.state.is_none();
            row.missing = (empty && *row.node != *node).then_some(MissingReason::NotHere);
            let reductions = self.reductions[queue.row].filter(|_| *row.kind == *"classic");
            queue.written = reductions
                .map(|reductions| WrittenInfos { reductions, infos: QueueInfos::from_row(row) });
        }
        (self.found, self.cache)
    }
}

/// Returns whether the queue's node runs. A queue without a process is about to get one, and counts as running.
fn runs(node: &str, running: &[String]) -> bool {
    node.is_empty() || running.iter().any(|one| one == node)
}

fn mark_down(row: &mut QueueRow) {
    QueueInfos::default().write_to(row);
    (row.ready, row.unacknowledged) = (None, None);
    row.missing = Some(MissingReason::Down);
}

fn row_without_figures(
    name: Arc<str>,
    fields: &[Term],
    strings: &mut SharedStrings,
) -> Option<QueueRow> {
    let [vhost, _, module, process, ..] = fields else { return None };
    Some(QueueRow {
        name,
        vhost: match std::str::from_utf8(vhost.as_binary()?) {
            Ok(vhost) => strings.share(vhost),
            Err(_) => vhost.to_text()?.into(),
        },
        kind: strings.share(queue_type(module.as_atom()?)),
        node: strings.share(node_of(process).unwrap_or_default()),
        state: None,
        ready: None,
        unacknowledged: None,
        consumers: None,
        memory_bytes: None,
        missing: None,
    })
}

/// Returns the type of a module: `quorum` for `rabbit_quorum_queue`, which implements it.
fn queue_type(module: &str) -> &str {
    let known = module.strip_prefix("rabbit_").and_then(|rest| rest.strip_suffix("_queue"));
    known.unwrap_or(module)
}

/// Returns the node of the queue's process. The process is a pid or a pair of registered name and node.
fn node_of(process: &Term) -> Option<&str> {
    match process.as_tuple() {
        Some([_, node]) => node.as_atom(),
        _ => Some(process.as_pid()?.node.as_str()),
    }
}

fn missing_reason(word: &str) -> Option<MissingReason> {
    match word {
        "no_answer" => Some(MissingReason::NoAnswer),
        "not_asked" => Some(MissingReason::NotAsked),
        "gone" => Some(MissingReason::Gone),
        "down" => Some(MissingReason::Down),
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

    fn both() -> [String; 2] {
        ["a@b".to_owned(), "c@d".to_owned()]
    }

    fn depth(ready: i64, reductions: i64) -> Term {
        part("depths", tuple("/", "q", &[ready.into(), 0.into(), reductions.into()]))
    }

    fn infos(consumers: i64) -> Term {
        part("infos", tuple("/", "q", &[Term::atom("running"), consumers.into(), 7.into()]))
    }

    fn rows(parts: &[Term]) -> Rows {
        let mut rows = Rows::default();
        add_all(&mut rows, parts);
        rows
    }

    fn add_all(rows: &mut Rows, parts: &[Term]) {
        let taken: Option<()> = parts.iter().map(|part| rows.add(part)).collect();
        taken.unwrap();
    }

    #[test]
    fn a_queue_that_was_deleted_is_forgotten() {
        let (_, cache) =
            rows(&[name("rabbit_classic_queue"), depth(1, 1000)]).finish("a@b", &both());
        assert_eq!(cache.queues.len(), 1);
        let mut next = Rows::after(cache);
        add_all(&mut next, &[depth(1, 1000)]);
        assert!(next.fill_from_cache("a@b").is_empty());
        let (rows, cache) = next.finish("a@b", &both());
        assert_eq!((rows.len(), cache.queues.len()), (0, 0));
    }

    #[test]
    fn cached_figures_are_valid_until_the_queue_writes_again() {
        fn check(module: &str, reductions: i64, asked: usize, consumers: Option<u64>) {
            let first = rows(&[name(module), infos(3), depth(1, 1000)]);
            let mut next = Rows::after(first.finish("a@b", &both()).1);
            add_all(&mut next, &[name(module), depth(2, reductions)]);
            assert_eq!(next.fill_from_cache("a@b").len(), asked, "{module} {reductions}");
            let row = next.finish("a@b", &both()).0.remove(0);
            assert_eq!((row.ready, row.consumers), (Some(2), consumers));
        }
        check("rabbit_classic_queue", 1000, 0, Some(3));
        check("rabbit_classic_queue", 1001, 1, None);
        check("rabbit_quorum_queue", 1000, 1, None);
    }

    #[test]
    fn queues_of_another_node_are_not_asked_for() {
        let mut rows = rows(&[name("rabbit_classic_queue")]);
        assert!(rows.fill_from_cache("c@d").is_empty());
        assert_eq!(rows.finish("c@d", &both()).0[0].missing, Some(MissingReason::NotHere));
        let new = super::tests::rows(&[name("rabbit_classic_queue")]);
        assert_eq!(new.finish("a@b", &both()).0[0].missing, None);
    }

    #[test]
    fn a_queue_that_does_not_run_has_no_figures() {
        fn check(running: &[String], parts: &[Term]) {
            let queue = [name("rabbit_classic_queue"), infos(3), depth(1, 1000)];
            let row = rows(&[&queue, parts].concat()).finish("c@d", running).0.remove(0);
            assert_eq!(
                (row.missing, row.ready, row.state),
                (Some(MissingReason::Down), None, None)
            );
        }
        let dead = part("dead", Term::tuple([Term::text("/"), Term::text("q")]));
        check(&both(), &[dead]);
        check(&["c@d".to_owned()], &[]);
    }

    #[test]
    fn rows_as_the_node_sends_them() {
        let process = Term::tuple([Term::atom("q"), Term::atom("a@b")]);
        let row = |figures: Term| {
            let row =
                tuple("/", "q", &[Term::atom("rabbit_stream_queue"), process.clone(), figures]);
            let mut rows = Rows::default();
            rows.add(&Term::tuple([Term::atom("rows"), Term::list([row])]))?;
            Some(rows.found.remove(0))
        };
        let unknown = || Term::atom("unknown");
        let figures = Term::tuple([unknown(), 1.into(), 2.into(), unknown(), 4.into()]);
        let read = row(figures).unwrap();
        assert_eq!((read.state, read.ready, read.consumers), (None, Some(1), None));
        assert_eq!((&*read.kind, &*read.node), ("stream", "a@b"));
        assert_eq!(row(Term::atom("no_answer")).unwrap().missing, Some(MissingReason::NoAnswer));
        assert_eq!(row(Term::atom("else")), None);
        assert_eq!(Rows::default().add(&part("rows", Term::Integer(1))), None);
    }
}
