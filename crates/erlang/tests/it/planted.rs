//! The planted module, and recordings of its functions with their own figures.

use std::{
    collections::HashMap,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{
    Connection, ErlangError, Term,
    probes::{
        CallTree, FunctionPattern, NodeKey, ProbeSession, TreeNode, TreeRequest, Trigger, Watch,
    },
};

use crate::node::{broker, connection, eval, is_patterned};

/// The module whose functions know their own times. It is on the node with its file, in which the agent looks for
/// receives and tail calls.
pub(crate) struct Planted<'c> {
    connection: &'c Connection,
}

impl<'c> Planted<'c> {
    pub(crate) fn load(connection: &'c Connection) -> Self {
        static LOADED: OnceLock<()> = OnceLock::new();
        LOADED.get_or_init(|| {
            let directory = broker().directory.join("planted");
            std::fs::create_dir(&directory).unwrap();
            let source = directory.join("planted.erl");
            std::fs::write(&source, include_str!("../../../../agent/test/planted.erl")).unwrap();
            let (source, directory) = (source.display(), directory.display());
            eval(&format!(
                "code:add_patha(\"{directory}\"), \
                 {{ok, planted}} = compile:file(\"{source}\", [{{outdir, \"{directory}\"}}]), \
                 {{module, planted}} = code:load_file(planted)"
            ));
        });
        Self { connection }
    }

    pub(crate) fn call(
        &self,
        function: &str,
        arguments: Vec<Term>,
        within: Duration,
    ) -> Result<Term, ErlangError> {
        self.connection.call("planted", function, arguments, within)
    }
}

pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) fn pattern(function: &str) -> FunctionPattern {
    FunctionPattern::parse(&format!("planted:{function}")).unwrap()
}

/// A request for a call tree that runs until it is stopped.
pub(crate) fn tree_of(trigger: Trigger) -> TreeRequest {
    TreeRequest { trigger, role: None, follow: false, max_calls: 10_000, duration: LONG }
}

/// Records the function during a call on the node. Also returns the call's own figures.
pub(crate) fn recorded(
    planted: &Planted<'_>,
    function: &str,
    follow: bool,
    call: (&str, Vec<Term>),
) -> (CallTree, Term) {
    let request = TreeRequest { follow, ..tree_of(Trigger::Call(pattern(function))) };
    recorded_during(&request, || {
        let (name, arguments) = call;
        planted.call(name, arguments, LONG).unwrap()
    })
}

/// Records from the moment that patterns are set until `during` returns, and returns its result as well.
pub(crate) fn recorded_during<T>(
    request: &TreeRequest,
    during: impl FnOnce() -> T,
) -> (CallTree, T) {
    let recorder = connection();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let tree = scope.spawn(|| {
            let mut session = ProbeSession::start(&recorder)?;
            session.tree(request, &mut Watch { stop: &stop, progress: &mut |_| () })
        });
        await_traced(ANY);
        let result = during();
        stop.store(true, Ordering::Relaxed);
        (tree.join().unwrap().unwrap(), result)
    })
}

/// A function that has a pattern while a call tree is recorded, as all functions have.
pub(crate) const ANY: &str = "lists, map, 2";

/// Waits until this function, `module, name, arity`, has a pattern.
pub(crate) fn await_traced(function: &str) {
    let began = Instant::now();
    while !is_patterned(function) {
        assert!(began.elapsed() < LONG, "never traced");
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(300));
}

/// Nodes of a function with this name, and all nodes below them.
pub(crate) fn below<'t>(tree: &'t CallTree, name: &str) -> impl Iterator<Item = &'t TreeNode> {
    let by_id: HashMap<u64, &TreeNode> = tree.nodes.iter().map(|node| (node.id, node)).collect();
    let is_named =
        move |node: &TreeNode| matches!(&node.key, NodeKey::Function(f) if f.name == name);
    tree.nodes.iter().filter(move |node| {
        let mut next = Some(*node);
        std::iter::from_fn(|| {
            let here = next?;
            next = by_id.get(&here.parent).copied();
            Some(here)
        })
        .any(is_named)
    })
}

pub(crate) fn micros<'t>(
    nodes: impl Iterator<Item = &'t TreeNode>,
    kind: impl Fn(&TreeNode) -> Duration,
) -> f64 {
    nodes.map(|node| kind(node).as_secs_f64() * 1e6).sum()
}

pub(crate) fn busy(node: &TreeNode) -> Duration {
    node.run + node.runnable + node.gc
}

/// Time below all functions with this name: running (with runnable and collecting), and waiting.
pub(crate) fn spent(tree: &CallTree, name: &str) -> (f64, f64) {
    (micros(below(tree, name), busy), micros(below(tree, name), |node| node.wait))
}

pub(crate) fn figures(term: &Term) -> (f64, f64) {
    let parts = term.as_tuple().unwrap();
    (parts[0].as_f64().unwrap(), parts[1].as_f64().unwrap())
}

#[track_caller]
pub(crate) fn close(what: &str, measured: f64, truth: f64) {
    let error = (measured - truth).abs() / truth;
    assert!(error < 0.05, "{what}: {measured:.3}, and it was {truth:.3} ({error:.3})");
}
