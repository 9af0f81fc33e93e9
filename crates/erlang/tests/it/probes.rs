//! Probes show the right data, do no harm, and leave nothing.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{
    Connection, ErlangError, Term,
    probes::{
        CallFilter, CallsRequest, CallsResult, FunctionPattern, ProbeSession, TracedCall,
        TreeRequest, Trigger, Watch, Who,
    },
};

use crate::{
    node::{connection, eval, has_sessions, tracing_alone},
    planted::{ANY, LONG, Planted, await_traced, pattern, tree_of},
};

/// Expression for traces of a probe on the node: traced processes and functions, and modules.
const LEFT: &str = "{[P || P <- processes(), {flags, [_ | _]} <- [erlang:trace_info(P, flags)]], \
    {erlang:trace_info(new, flags), erlang:system_info(trace_control_word)}, \
    [F || F <- [{lists, map, 2}, {gen, do_call, 4}, {gen_server, loop, 7}], \
     not lists:member(erlang:trace_info(F, all), [{all, false}, {all, undefined}])], \
    [M || {M, _} <- code:all_loaded(), lists:prefix(\"rabbitscope_agent\", atom_to_list(M))]}";

/// Expression for sessions of others than the node itself.
const SESSIONS: &str = "trace:session_info(all) -- [{legacy, default}]";

#[track_caller]
pub(crate) fn assert_nothing_left() {
    let began = Instant::now();
    loop {
        let mut left = eval(LEFT);
        if has_sessions() {
            left += &eval(SESSIONS);
        }
        if left.trim_end_matches("[]") == "{[],{{flags,[]},0},[],[]}" {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "left on the node: {left}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn traced(
    planted: &Planted<'_>,
    awaited: Option<&str>,
    change: impl FnOnce(&mut CallsRequest),
    call: (&str, Vec<Term>),
) -> Result<(Vec<TracedCall>, CallsResult), ErlangError> {
    let recorder = connection();
    let mut request = CallsRequest {
        function: pattern("enroll/2"),
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
        if let Some(function) = awaited {
            await_traced(&format!("planted, {function}"));
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
    let call = ("enroll", vec![Term::text("anna"), secrets.clone()]);
    let (calls, result) = traced(&planted, Some("enroll, 2"), |_| (), call).unwrap();
    assert_eq!((calls.len(), result.calls_on_node), (1, 1));
    let call = &calls[0];
    assert!(call.arguments.contains("<<\"anna\">>"), "{}", call.arguments);
    assert!(call.arguments.contains("tries => 3"), "{}", call.arguments);
    assert!(!call.arguments.contains("hunter2"), "{}", call.arguments);
    assert_eq!((call.outcome.as_str(), call.result.as_str()), ("returned", "<<\"anna\">>"));
    assert!(call.took.unwrap() >= Duration::from_millis(1));

    let call = ("enroll", vec![Term::text("anna"), secrets]);
    let only = |request: &mut CallsRequest| {
        request.filter.arguments = Some("<<\"bert\">>, _".to_owned());
    };
    let (calls, result) = traced(&planted, Some("enroll, 2"), only, call).unwrap();
    assert_eq!((calls.len(), result.calls_on_node), (0, 1));
    assert_nothing_left();
}

/// The node's memory in bytes.
fn node_memory() -> u64 {
    eval("erlang:memory(total)").parse().unwrap()
}

pub(crate) fn kill(connection: &Connection, pids: &Term) {
    for pid in pids.as_list().unwrap() {
        let kill = vec![pid.clone(), Term::atom("kill")];
        connection.call("erlang", "exit", kill, LONG).unwrap();
    }
}

/// More processes than there are schedulers call one function all the time.
#[test]
fn the_hottest_function_does_the_node_no_harm() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let pids = planted.call("hot", vec![4.into()], LONG).unwrap();
    let before = node_memory();
    let mut session = ProbeSession::start(&connection).unwrap();
    let stop = AtomicBool::new(false);
    let mut most = 0;
    let mut progress = |_| most = most.max(node_memory());
    let mut watch = Watch { stop: &stop, progress: &mut progress };
    let first = Who::Pid(pids.as_list().unwrap()[0].to_string());
    let request =
        TreeRequest { duration: Duration::from_secs(3), ..tree_of(Trigger::Process(first)) };
    let tree = session.tree(&request, &mut watch).unwrap();
    assert!(tree.result.windows > 1 && tree.result.unseen > Duration::ZERO, "{:?}", tree.result);
    assert!(most < before + (64 << 20), "from {before} to {most} bytes");
    drop(session);
    kill(&connection, &pids);
    assert_nothing_left();
}

/// Arguments and results have some hundred kilobytes. Without a limit they would be copied whole, hundreds of thousands
/// of times a second.
#[test]
fn large_arguments_of_a_hot_function_do_the_node_no_harm() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let pids = planted.call("heavy", vec![4.into()], LONG).unwrap();
    let before = node_memory();
    let watcher = eval(
        "register(most_memory, spawn_opt(fun() -> (fun Watch(Most) -> \
           receive {most, To} -> To ! {most, Most} \
           after 5 -> Watch(max(Most, erlang:memory(total))) end end)(0) end, [{priority, max}]))",
    );
    assert_eq!(watcher, "true");
    let mut session = ProbeSession::start(&connection).unwrap();
    let stop = AtomicBool::new(false);
    let request = CallsRequest {
        function: pattern("carry/1"),
        filter: CallFilter::default(),
        arguments: true,
        results: true,
        limit: 100,
        duration: LONG,
        max_rate: None,
    };
    let mut calls = 0;
    let mut watch = Watch { stop: &stop, progress: &mut |_| () };
    let result = session.calls(&request, &mut watch, &mut |_| calls += 1).unwrap();
    let most = eval("most_memory ! {most, self()}, receive {most, Most} -> Most end");
    let most = most.parse::<u64>().unwrap();
    assert_eq!((result.stopped_by.as_str(), calls), ("max_events", 100), "{result:?}");
    assert!(result.calls_per_second > 10_000, "{result:?}");
    // Without counting, some thousand calls are sent before the program receives the first.
    assert!(result.calls_dropped < 200, "{result:?}");
    assert!(most < before + (64 << 20), "from {before} to {most} bytes");
    drop(session);
    kill(&connection, &pids);
    assert_nothing_left();
}

pub(crate) fn refused(error: ErlangError) -> String {
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
    eval(
        "Tracer = spawn(fun() -> register(somebody, self()), receive stop -> ok end end), \
         erlang:trace(whereis(rabbit_sup), true, [send, {tracer, Tracer}]), \
         erlang:trace_pattern({planted, hot, 1}, true, [global])",
    );
    let call = ("leaf", vec![1.into()]);
    let leaf = |request: &mut CallsRequest| request.function = pattern("leaf/1");
    if has_sessions() {
        let (calls, _) = traced(&planted, Some("leaf, 1"), leaf, call).unwrap();
        assert_eq!(calls.len(), 1, "a session of one's own sees what it asks for");
    } else {
        let error = traced(&planted, None, leaf, call).unwrap_err();
        assert_eq!(refused(error), "traced_already");
    }
    assert_eq!(eval("erlang:trace_info(whereis(rabbit_sup), flags)"), "{flags,[send]}");
    assert_eq!(eval("erlang:trace_info({planted, hot, 1}, traced)"), "{traced,global}");
    eval(
        "erlang:trace(whereis(rabbit_sup), false, [all]), \
         erlang:trace_pattern({planted, hot, 1}, false, [global]), somebody ! stop",
    );
    assert_nothing_left();
}

#[test]
fn what_cannot_be_traced_is_said() {
    let _alone = tracing_alone();
    let connection = connection();
    let mut session = ProbeSession::start(&connection).unwrap();
    let stop = AtomicBool::new(false);
    let mut check = |function: &str, expected: &str, says: &str| {
        let request = tree_of(Trigger::Call(FunctionPattern::parse(function).unwrap()));
        let error =
            session.tree(&request, &mut Watch { stop: &stop, progress: &mut |_| () }).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(refused(error), expected);
    };
    check("lists:no_such_thing_here/1", "no_such_function", "the node has nothing named");
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
    let request = TreeRequest { follow: true, ..tree_of(Trigger::Call(pattern("work_once/0"))) };
    thread::scope(|scope| {
        let recording = scope.spawn(|| {
            let mut session = ProbeSession::start(&recorder)?;
            session.tree(&request, &mut Watch { stop: &stop, progress: &mut |_| () })
        });
        await_traced(ANY);
        let own = recorder.mailbox().pid().node.to_string();
        eval(&format!("erlang:disconnect_node({own})"));
        assert!(matches!(recording.join().unwrap(), Err(ErlangError::Lost { .. })));
    });
    assert_nothing_left();
}
