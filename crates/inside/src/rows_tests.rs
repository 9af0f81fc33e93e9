//! Rows of queues as the node sends them.

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
    take(&mut rows, parts);
    rows
}

fn take(rows: &mut Rows, parts: &[Term]) {
    let taken: Option<()> = parts.iter().map(|part| rows.take(part)).collect();
    taken.unwrap();
}

#[test]
fn a_queue_that_was_deleted_is_forgotten() {
    let (_, remembered) =
        rows(&[name("rabbit_classic_queue"), depth(1, 1000)]).of_node("a@b", &both());
    assert_eq!(remembered.queues.len(), 1);
    let mut next = Rows::after(remembered);
    take(&mut next, &[depth(1, 1000)]);
    assert!(next.recall("a@b").is_empty());
    let (rows, remembered) = next.of_node("a@b", &both());
    assert_eq!((rows.len(), remembered.queues.len()), (0, 0));
}

#[test]
fn what_a_queue_wrote_is_known_until_it_writes_again() {
    fn check(module: &str, reductions: i64, asked: usize, consumers: Option<u64>) {
        let first = rows(&[name(module), infos(3), depth(1, 1000)]);
        let mut next = Rows::after(first.of_node("a@b", &both()).1);
        take(&mut next, &[name(module), depth(2, reductions)]);
        assert_eq!(next.recall("a@b").len(), asked, "{module} {reductions}");
        let row = next.of_node("a@b", &both()).0.remove(0);
        assert_eq!((row.ready, row.consumers), (Some(2), consumers));
    }
    check("rabbit_classic_queue", 1000, 0, Some(3));
    check("rabbit_classic_queue", 1001, 1, None);
    check("rabbit_quorum_queue", 1000, 1, None);
}

#[test]
fn of_another_node_there_is_nothing_to_ask() {
    let mut rows = rows(&[name("rabbit_classic_queue")]);
    assert!(rows.recall("c@d").is_empty());
    assert_eq!(rows.of_node("c@d", &both()).0[0].missing, Some(Missing::NotHere));
    let new = super::tests::rows(&[name("rabbit_classic_queue")]);
    assert_eq!(new.of_node("a@b", &both()).0[0].missing, None);
}

#[test]
fn what_does_not_run_has_no_figures() {
    fn check(running: &[String], parts: &[Term]) {
        let queue = [name("rabbit_classic_queue"), infos(3), depth(1, 1000)];
        let row = rows(&[&queue, parts].concat()).of_node("c@d", running).0.remove(0);
        assert_eq!((row.missing, row.ready, row.state), (Some(Missing::Down), None, None));
    }
    let dead = part("dead", Term::tuple([Term::text("/"), Term::text("q")]));
    check(&both(), &[dead]);
    check(&["c@d".to_owned()], &[]);
}

#[test]
fn rows_as_the_node_sends_them() {
    let process = Term::tuple([Term::atom("q"), Term::atom("a@b")]);
    let row = |figures: Term| {
        let row = tuple("/", "q", &[Term::atom("rabbit_stream_queue"), process.clone(), figures]);
        let mut rows = Rows::default();
        rows.take(&Term::tuple([Term::atom("rows"), Term::list([row])]))?;
        Some(rows.all.remove(0))
    };
    let unknown = || Term::atom("unknown");
    let figures = Term::tuple([unknown(), 1.into(), 2.into(), unknown(), 4.into()]);
    let read = row(figures).unwrap();
    assert_eq!((read.state, read.ready, read.consumers), (None, Some(1), None));
    assert_eq!((&*read.kind, &*read.node), ("stream", "a@b"));
    assert_eq!(row(Term::atom("no_answer")).unwrap().missing, Some(Missing::NoAnswer));
    assert_eq!(row(Term::atom("else")), None);
    assert_eq!(Rows::default().take(&part("rows", Term::Integer(1))), None);
}
