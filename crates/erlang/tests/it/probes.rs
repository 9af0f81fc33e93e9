//! What the agent finds out, against functions that know their own times; and that it leaves nothing.

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
        CallFilter, CallTree, CallsRequest, CallsResult, FunctionPattern, NodeKey, ProbeSession,
        TracedCall, TreeNode, TreeRequest, Trigger, Watch, Who,
    },
};

use crate::node::{broker, connection, tracing_alone};

/// The module whose functions know their own times, on the node as if it were part of it: with its
/// file, in which the agent looks for receives and tail calls.
struct Planted<'c> {
    connection: &'c Connection,
}

impl<'c> Planted<'c> {
    fn load(connection: &'c Connection) -> Self {
        static LOADED: OnceLock<()> = OnceLock::new();
        LOADED.get_or_init(|| {
            let name = format!("rabbitscope-planted-{}", std::process::id());
            let directory = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&directory).unwrap();
            let source = directory.join("planted.erl");
            std::fs::write(&source, include_str!("../../../../agent/test/planted.erl")).unwrap();
            let (source, directory) = (source.display(), directory.display());
            broker()
                .eval(&format!(
                    "code:add_patha(\"{directory}\"), \
                     {{ok, planted}} = compile:file(\"{source}\", [{{outdir, \"{directory}\"}}]), \
                     {{module, planted}} = code:load_file(planted)"
                ))
                .unwrap();
        });
        Self { connection }
    }

    fn call(
        &self,
        function: &str,
        arguments: Vec<Term>,
        within: Duration,
    ) -> Result<Term, ErlangError> {
        self.connection.call("planted", function, arguments, within)
    }
}

const LONG: Duration = Duration::from_secs(20);

/// Erlang that is true when neither we nor anybody else traces.
const NOTHING_LEFT: &str = "{[P || P <- processes(), erlang:trace_info(P, flags) =/= {flags, []}], \
    erlang:trace_info(new, flags), \
    [F || F <- [{lists, map, 2}, {gen, do_call, 4}, {gen_server, loop, 7}], \
     {all, false} =/= erlang:trace_info(F, all)], \
    [M || {M, _} <- code:all_loaded(), lists:prefix(\"rabbitscope_agent\", atom_to_list(M))]}";

#[track_caller]
fn assert_nothing_left() {
    let began = Instant::now();
    loop {
        let left = broker().eval(NOTHING_LEFT).unwrap();
        if left == "{[],{flags,[]},[],[]}" {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "left on the node: {left}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn pattern(function: &str) -> FunctionPattern {
    FunctionPattern::parse(&format!("planted:{function}")).unwrap()
}

/// Records the function while it is called on the node; the call's own figures come with it.
fn recorded(
    planted: &Planted<'_>,
    function: &str,
    follow: bool,
    call: (&str, Vec<Term>),
) -> (CallTree, Term) {
    let recorder = connection();
    let request = TreeRequest {
        trigger: Trigger::Call(pattern(function)),
        role: None,
        follow,
        max_calls: 10_000,
        duration: LONG,
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let tree = scope.spawn(|| {
            let mut session = ProbeSession::start(&recorder)?;
            session.tree(&request, &mut Watch { stop: &stop, progress: &mut |_| () })
        });
        await_traced("leaf, 1");
        let (name, arguments) = call;
        let figures = planted.call(name, arguments, LONG).unwrap();
        stop.store(true, Ordering::Relaxed);
        (tree.join().unwrap().unwrap(), figures)
    })
}

/// The patterns of a recording are set.
fn await_traced(function: &str) {
    let asked = format!("erlang:trace_info({{planted, {function}}}, traced)");
    let began = Instant::now();
    while broker().eval(&asked).unwrap() != "{traced,local}" {
        assert!(began.elapsed() < LONG, "never traced");
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(300));
}

/// Time below all functions of that name, by what it was spent with: run and the like, wait.
fn spent(tree: &CallTree, name: &str) -> (f64, f64) {
    let by_id: HashMap<u64, &TreeNode> = tree.nodes.iter().map(|node| (node.id, node)).collect();
    let is_it = |node: &TreeNode| matches!(&node.key, NodeKey::Function(f) if f.name == name);
    let below = |node: &&TreeNode| {
        let mut at = Some(*node);
        std::iter::from_fn(|| {
            let here = at?;
            at = by_id.get(&here.parent).copied();
            Some(here)
        })
        .any(is_it)
    };
    tree.nodes.iter().filter(below).fold((0.0, 0.0), |(run, wait), node| {
        let busy = node.run + node.runnable + node.gc;
        (run + busy.as_secs_f64() * 1e6, wait + node.wait.as_secs_f64() * 1e6)
    })
}

fn figures(term: &Term) -> (f64, f64) {
    let parts = term.as_tuple().unwrap();
    (parts[0].as_f64().unwrap(), parts[1].as_f64().unwrap())
}

#[track_caller]
fn close(what: &str, measured: f64, truth: f64) {
    let error = (measured - truth).abs() / truth;
    assert!(error < 0.05, "{what}: {measured:.0} µs, and it was {truth:.0} µs ({error:.3})");
}

#[test]
fn running_and_waiting_are_told_apart() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    for (entry, call) in [("work_once/0", "work"), ("tail_once/0", "tail")] {
        let (tree, truth) = recorded(&planted, entry, false, (call, vec![5.into()]));
        let (spun, slept) = figures(&truth);
        close(&format!("{call}, running"), spent(&tree, "spin").0, spun);
        close(&format!("{call}, waiting"), spent(&tree, "nap").1, slept);
        assert_eq!(tree.result.calls_on_node, 5, "{:?}", tree.result);
        assert_eq!(tree.result.calls + tree.result.calls_cut, 5, "{:?}", tree.result);
    }
    assert_nothing_left();
}

#[test]
fn recursion_is_one_node() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let call = ("recursive", vec![5.into()]);
    let (tree, _) = recorded(&planted, "recursive/1", false, call);
    let recursive: Vec<u64> = tree
        .nodes
        .iter()
        .filter(|node| matches!(&node.key, NodeKey::Function(f) if f.name == "recursive"))
        .map(|node| node.calls)
        .collect();
    assert_eq!(recursive, [6]);
    assert_nothing_left();
}

#[test]
fn a_wait_is_followed_into_the_server() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let server = planted.call("start_server", vec![], LONG).unwrap();
    let call = ("ask", vec![server, 4.into()]);
    let (tree, truth) = recorded(&planted, "ask_once/1", true, call);
    let spun = figures(&truth).0;
    // The first moments of the server's work may be with the caller, and the other way round.
    let measured = spent(&tree, "spin").0;
    assert!((measured - spun).abs() / spun < 0.15, "{measured:.0} µs, and it was {spun:.0} µs");
    let is_server = |node: &TreeNode| matches!(node.key, NodeKey::Process(..)) && node.parent != 0;
    assert!(tree.nodes.iter().any(is_server), "{:#?}", tree.nodes);
    // Of the first of the four calls the server's wait may be missing: it is followed only from then on.
    let handled = spent(&tree, "handle_call");
    assert!(handled.0 > 3.0 * 25_000.0 && handled.1 > 3.0 * 9_000.0, "{handled:?}");
    assert_nothing_left();
}

fn traced(
    planted: &Planted<'_>,
    awaited: bool,
    change: impl FnOnce(&mut CallsRequest),
    call: (&str, Vec<Term>),
) -> Result<(Vec<TracedCall>, CallsResult), ErlangError> {
    let recorder = connection();
    let mut request = CallsRequest {
        function: pattern("login/2"),
        filter: CallFilter::default(),
        arguments: true,
        results: true,
        limit: 10,
        duration: Duration::from_secs(5),
        max_rate: None,
    };
    change(&mut request);
    let stop = AtomicBool::new(false);
    let (name, arguments) = call;
    thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let mut session = ProbeSession::start(&recorder)?;
            let mut calls = Vec::new();
            let mut watch = Watch { stop: &stop, progress: &mut |_| () };
            let result = session.calls(&request, &mut watch, &mut |call| calls.push(call))?;
            Ok((calls, result))
        });
        if awaited {
            await_traced("login, 2");
        }
        planted.call(name, arguments, LONG).unwrap();
        thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::Relaxed);
        calls.join().unwrap()
    })
}

#[test]
fn a_call_is_shown_without_secrets() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let secrets = Term::map([("password", Term::text("hunter2")), ("tries", 3.into())]);
    let call = ("login", vec![Term::text("anna"), secrets.clone()]);
    let (calls, result) = traced(&planted, true, |_| (), call).unwrap();
    assert_eq!((calls.len(), result.calls_on_node), (1, 1));
    let call = &calls[0];
    assert!(call.arguments.contains("<<\"anna\">>"), "{}", call.arguments);
    assert!(call.arguments.contains("tries => 3"), "{}", call.arguments);
    assert!(!call.arguments.contains("hunter2"), "{}", call.arguments);
    assert_eq!((call.outcome.as_str(), call.result.as_str()), ("returned", "<<\"anna\">>"));
    assert!(call.took.unwrap() >= Duration::from_millis(1));

    let call = ("login", vec![Term::text("anna"), secrets]);
    let only = |request: &mut CallsRequest| {
        request.filter.arguments = Some("<<\"bert\">>, _".to_owned());
    };
    let (calls, result) = traced(&planted, true, only, call).unwrap();
    assert_eq!((calls.len(), result.calls_on_node), (0, 1));
    assert_nothing_left();
}

/// As many processes as there are schedulers, and more, call one function all the time.
#[test]
fn the_hottest_function_does_the_node_no_harm() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let pids = planted.call("hot", vec![4.into()], LONG).unwrap();
    let memory = || broker().eval("erlang:memory(total)").unwrap().parse::<u64>().unwrap();
    let before = memory();
    let mut session = ProbeSession::start(&connection).unwrap();
    let stop = AtomicBool::new(false);
    let mut most = 0;
    let mut progress = |_| most = most.max(memory());
    let mut watch = Watch { stop: &stop, progress: &mut progress };
    let request = TreeRequest {
        trigger: Trigger::Process(Who::Pid(pids.as_list().unwrap()[0].to_string())),
        role: None,
        follow: false,
        max_calls: 10_000,
        duration: Duration::from_secs(3),
    };
    let tree = session.tree(&request, &mut watch).unwrap();
    assert!(tree.result.windows > 1 && tree.result.unseen > Duration::ZERO, "{:?}", tree.result);
    assert!(most < before + (64 << 20), "from {before} to {most} bytes");
    drop(session);
    for pid in pids.as_list().unwrap() {
        let kill = vec![pid.clone(), Term::atom("kill")];
        connection.call("erlang", "exit", kill, LONG).unwrap();
    }
    assert_nothing_left();
}

fn refused(error: ErlangError) -> String {
    match error {
        ErlangError::Agent { kind, .. } => kind,
        other => panic!("{other}"),
    }
}

#[test]
fn somebody_elses_trace_is_left_alone() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    broker()
        .eval(
            "Tracer = spawn(fun() -> register(somebody, self()), receive stop -> ok end end), \
             erlang:trace(whereis(rabbit_sup), true, [send, {tracer, Tracer}])",
        )
        .unwrap();
    let call = ("leaf", vec![1.into()]);
    let kind = refused(traced(&planted, false, |_| (), call).unwrap_err());
    assert_eq!(kind, "traced_already");
    let flags = broker().eval("erlang:trace_info(whereis(rabbit_sup), flags)").unwrap();
    assert_eq!(flags, "{flags,[send]}");
    broker().eval("erlang:trace(whereis(rabbit_sup), false, [all]), somebody ! stop").unwrap();
    assert_nothing_left();
}

#[test]
fn what_cannot_be_traced_is_said() {
    let _alone = tracing_alone();
    let connection = connection();
    let mut session = ProbeSession::start(&connection).unwrap();
    let stop = AtomicBool::new(false);
    let mut check = |function: &str, expected: &str, says: &str| {
        let request = TreeRequest {
            trigger: Trigger::Call(FunctionPattern::parse(function).unwrap()),
            role: None,
            follow: false,
            max_calls: 1,
            duration: Duration::from_secs(1),
        };
        let error =
            session.tree(&request, &mut Watch { stop: &stop, progress: &mut |_| () }).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(refused(error), expected);
    };
    check("lists:no_such_thing_here/1", "no_such_function", "nothing on the node is called");
    check("lists:map/9", "no_such_function", "lists has no function map with 9 arguments");
    drop(session);
    assert_nothing_left();
}

#[test]
fn a_lost_connection_leaves_nothing() {
    let _alone = tracing_alone();
    let connection = connection();
    Planted::load(&connection);
    let recorder = self::connection();
    let stop = AtomicBool::new(false);
    let request = TreeRequest {
        trigger: Trigger::Call(pattern("work_once/0")),
        role: None,
        follow: true,
        max_calls: 10_000,
        duration: LONG,
    };
    thread::scope(|scope| {
        let recording = scope.spawn(|| {
            let mut session = ProbeSession::start(&recorder)?;
            session.tree(&request, &mut Watch { stop: &stop, progress: &mut |_| () })
        });
        await_traced("leaf, 1");
        let own = recorder.mailbox().pid().node.to_string();
        broker().eval(&format!("erlang:disconnect_node({own})")).unwrap();
        assert!(matches!(recording.join().unwrap(), Err(ErlangError::Lost { .. })));
    });
    assert_nothing_left();
}
