//! The processes and functions that a request selects, and impossible selections.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_erlang::{
    ErlangError, ErrorKind,
    probes::{
        CallFilter, CallTree, CallsRequest, CallsResult, FunctionPattern, NodeKey, ProbeSession,
        TracedCall, TreeRequest, Trigger, Watch, Who,
    },
};

use crate::{
    node::{connection, eval, has_sessions, tracing_alone},
    planted::{LONG, Planted, await_traced, pattern, tree_of},
    probes::{assert_nothing_left, kill, refused},
};

const PROMPT: Duration = Duration::from_secs(2);

fn request(function: &str) -> CallsRequest {
    CallsRequest {
        function: FunctionPattern::parse(function).unwrap(),
        filter: CallFilter::default(),
        arguments: false,
        results: false,
        limit: 100,
        duration: PROMPT,
        max_rate: None,
    }
}

fn traced(request: &CallsRequest) -> Result<(Vec<TracedCall>, CallsResult), ErlangError> {
    traced_until(request, &AtomicBool::new(false))
}

fn traced_until(
    request: &CallsRequest,
    stop: &AtomicBool,
) -> Result<(Vec<TracedCall>, CallsResult), ErlangError> {
    let connection = connection();
    let mut session = ProbeSession::start(&connection)?;
    let mut calls = Vec::new();
    let mut watch = Watch { stop, progress: &mut |_| () };
    let result = session.calls(request, &mut watch, &mut |call| calls.push(call))?;
    Ok((calls, result))
}

/// Traces while the node evaluates the expression.
fn traced_while(
    request: &CallsRequest,
    awaited: &str,
    expression: &str,
) -> (Vec<TracedCall>, CallsResult) {
    let stop = AtomicBool::new(false);
    let request = CallsRequest { duration: LONG, ..request.clone() };
    thread::scope(|scope| {
        let calls = scope.spawn(|| traced_until(&request, &stop).unwrap());
        await_traced(awaited);
        eval(expression);
        thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::Relaxed);
        calls.join().unwrap()
    })
}

fn tree(request: &TreeRequest) -> Result<CallTree, ErlangError> {
    let connection = connection();
    let mut session = ProbeSession::start(&connection)?;
    let stop = AtomicBool::new(false);
    session.tree(request, &mut Watch { stop: &stop, progress: &mut |_| () })
}

fn tree_of_process(who: Who) -> Result<CallTree, ErlangError> {
    tree(&TreeRequest { duration: PROMPT, ..tree_of(Trigger::Process(who)) })
}

#[test]
fn of_many_processes_the_busiest_are_looked_at() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let crowd = planted.call("crowd", vec![150.into()], LONG).unwrap();
    let limiters = || Who::Role("limiter".to_owned());
    let tree = tree_of_process(limiters()).unwrap();
    assert_eq!((tree.result.processes, tree.result.candidates), (64, 150), "{:?}", tree.result);
    let works =
        |key: &NodeKey| matches!(key, NodeKey::Function(function) if function.name == "leaf");
    assert!(tree.nodes.iter().any(|node| works(&node.key)), "{:#?}", tree.nodes);

    let mut session = ProbeSession::start(&connection).unwrap();
    let stop = AtomicBool::new(false);
    let mut watch = Watch { stop: &stop, progress: &mut |_| () };
    let counters = session.counters(&limiters(), PROMPT, &mut watch).unwrap();
    assert_eq!((counters.processes, counters.candidates), (64, 150));
    let called = |name: &str| counters.functions.iter().any(|row| row.function.name == name);
    assert!(called("leaf"), "{:#?}", counters.functions);
    drop(session);
    kill(&connection, &crowd);
    assert_nothing_left();
}

#[test]
fn a_role_is_looked_for_before_the_others_are_left_out() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let hot = planted.call("hot", vec![4.into()], LONG).unwrap();
    let crowd = planted.call("crowd", vec![1.into()], LONG).unwrap();
    let filter = CallFilter { role: Some("limiter".to_owned()), ..CallFilter::default() };
    let (calls, result) =
        traced(&CallsRequest { filter, function: pattern("leaf/1"), ..request("planted:leaf/1") })
            .unwrap();
    assert!(!calls.is_empty(), "{result:?}");
    assert!(calls.iter().all(|call| call.role == "limiter"), "{calls:?}");
    kill(&connection, &hot);
    kill(&connection, &crowd);
    assert_nothing_left();
}

#[test]
fn what_nothing_can_be_is_refused() {
    let _alone = tracing_alone();
    let connection = connection();
    Planted::load(&connection);
    let check = |error: ErlangError, kind: &str, says: &str| {
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert_eq!(refused(error), kind);
    };
    let filtered = |filter: CallFilter| {
        traced(&CallsRequest { filter, ..request("planted:enroll") }).unwrap_err()
    };
    let misspelt = || "chanel".to_owned();
    let by_role = CallFilter { role: Some(misspelt()), ..CallFilter::default() };
    check(filtered(by_role), "no_such_role", "there are reader, writer, channel");
    let triggered =
        TreeRequest { role: Some(misspelt()), ..tree_of(Trigger::Call(pattern("leaf"))) };
    check(tree(&triggered).unwrap_err(), "no_such_role", "no role is called chanel");
    check(tree_of_process(Who::Role(misspelt())).unwrap_err(), "no_such_role", "chanel");
    let by_arguments =
        CallFilter { arguments: Some("_, _, _".to_owned()), ..CallFilter::default() };
    check(filtered(by_arguments), "bad_pattern", "it is for 3 arguments, and planted:enroll has 2");
    check(traced(&request("planted:_/2")).unwrap_err(), "bad_pattern", "module:_");
    assert_nothing_left();
}

const WIDE: &str = "Names = [list_to_atom(\"f\" ++ integer_to_list(N)) || N <- lists:seq(1, 60)], \
    {ok, planted_wide, Binary} = compile:forms([{attribute, 1, module, planted_wide}, \
     {attribute, 1, export, [{Name, 0} || Name <- Names]} \
     | [{function, 1, Name, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]} || Name <- Names]]), \
    {module, planted_wide} = code:load_binary(planted_wide, \"planted_wide\", Binary)";

#[test]
fn all_functions_of_a_module_are_counted() {
    let _alone = tracing_alone();
    eval(WIDE);
    let called = "[apply(planted_wide, list_to_atom(\"f\" ++ integer_to_list(N)), []) || N <- lists:seq(1, 60)]";
    let wide = request("planted_wide:_");
    let (calls, result) = traced_while(&wide, "planted_wide, f1, 0", called);
    let shown = calls.iter().filter(|call| call.function.name.starts_with('f')).count();
    // The node may also call the module's own information functions.
    assert_eq!(shown, 60, "{result:?}");
    assert!(result.calls_on_node >= result.calls, "{result:?}");
    assert_nothing_left();
}

/// Without results the node is not asked for the end of a call, so that results need not be copied. The calling
/// evaluator does not catch in the function that calls.
#[test]
fn how_a_call_ended_is_not_guessed() {
    let _alone = tracing_alone();
    let connection = connection();
    Planted::load(&connection);
    let failing = "[catch planted:brief_failing(), planted:brief_once()]";
    // From OTP 27 on, a failed call also returns to the place where it is caught.
    let failed = if has_sessions() { "ended" } else { "no_end_seen" };
    for (results, expected) in [(false, [failed, "ended"]), (true, ["exit", "returned"])] {
        for (function, outcome) in ["brief_failing", "brief_once"].into_iter().zip(expected) {
            let request = CallsRequest { results, ..request(&format!("planted:{function}/0")) };
            let (calls, _) = traced_while(&request, &format!("planted, {function}, 0"), failing);
            let outcomes: Vec<&str> = calls.iter().map(|call| call.outcome.as_str()).collect();
            assert_eq!(outcomes, [outcome], "{function}");
        }
    }
    assert_nothing_left();
}

/// Each call of a tail-recursive function has its end, as have those of one that calls itself otherwise.
#[test]
fn calls_end_with_the_calls_that_they_end_in() {
    let _alone = tracing_alone();
    let connection = connection();
    Planted::load(&connection);
    for (function, calls_made) in [("leaves", 6), ("recursive", 6)] {
        let request = request(&format!("planted:{function}/1"));
        let made = format!("[planted:{function}(5)]");
        let (calls, _) = traced_while(&request, &format!("planted, {function}, 1"), &made);
        let outcomes: Vec<&str> = calls.iter().map(|call| call.outcome.as_str()).collect();
        assert_eq!(outcomes, vec!["ended"; calls_made], "{function}");
    }
    assert_nothing_left();
}

const DECLARE: &str = "rabbit_vhost:add(<<\"second\">>, <<\"test\">>), \
    Declare = fun(VHost, Name, Type) -> {new, _} = rabbit_amqqueue:declare( \
      {resource, VHost, queue, Name}, true, false, [{<<\"x-queue-type\">>, longstr, Type}], none, <<\"test\">>) end, \
    [Declare(<<\"/\">>, <<\"of-\", Type/binary>>, Type) || Type <- [<<\"classic\">>, <<\"quorum\">>, <<\"stream\">>]], \
    [Declare(VHost, <<\"twice\">>, <<\"classic\">>) || VHost <- [<<\"/\">>, <<\"second\">>]], ok";

const DELETE: &str = "[begin {ok, Queue} = rabbit_amqqueue:lookup({resource, <<\"/\">>, queue, Name}), \
    rabbit_amqqueue:delete(Queue, false, false, <<\"test\">>) end \
    || Name <- [<<\"of-classic\">>, <<\"of-quorum\">>, <<\"of-stream\">>, <<\"twice\">>]], \
    rabbit_vhost:delete(<<\"second\">>, <<\"test\">>)";

#[test]
fn a_queue_of_any_type_has_a_process() {
    let _alone = tracing_alone();
    assert_eq!(eval(DECLARE), "ok");
    let queue = |name: &str, vhost: Option<&str>| Who::Queue {
        name: name.to_owned(),
        vhost: vhost.map(str::to_owned),
    };
    for name in ["of-classic", "of-quorum", "of-stream"] {
        let tree = tree(&TreeRequest {
            duration: Duration::from_millis(300),
            ..tree_of(Trigger::Process(queue(name, None)))
        });
        assert_eq!(tree.unwrap().result.processes, 1, "{name}");
    }
    let error = tree_of_process(queue("twice", None)).unwrap_err();
    assert!(error.to_string().contains("in the virtual hosts /, second"), "{error}");
    let one = tree_of_process(queue("twice", Some("second"))).unwrap();
    assert_eq!(one.result.processes, 1);
    let error = tree_of_process(queue("of-quorum", Some("second"))).unwrap_err();
    assert!(error.to_string().contains("no queue is called of-quorum"), "{error}");
    eval(DELETE);
    assert_nothing_left();
}
