//! Modules on the node are loaded, asked, and removed in every case.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_erlang::{Compiled, Connection, ErlangError, Loaded, ModuleSource, Reply, Term};

use crate::node::{connection, eval};

const PROMPT: Duration = Duration::from_secs(5);

/// An agent that counts on request, and leaves a mark when it cleans up.
const COUNTING: ModuleSource = ModuleSource {
    name: "counting",
    text: r#"
-module(counting).
-export([start/3, cleanup/1, double/1]).
double(N) -> 2 * N.
start(Controller, Keeper, Options) ->
    spawn(fun () ->
        process_flag(trap_exit, true),
        Keeper ! {armed, maps:get(mark, Options)},
        loop(Controller)
    end).
loop(Controller) ->
    receive
        {request, Ref, count, #{to := N}} ->
            [Controller ! {rabbitscope, Ref, {event, I}} || I <- lists:seq(1, N)],
            Controller ! {rabbitscope, Ref, {done, #{module => ?MODULE}}},
            loop(Controller);
        {request, _, crash, _} -> exit(crashed);
        {request, _, hang, _} -> receive never -> ok end;
        {request, Ref, _, _} ->
            Controller ! {rabbitscope, Ref, {error, unknown_request, <<"not known">>}},
            loop(Controller);
        {'EXIT', _, _} -> ok;
        _ -> loop(Controller)
    end.
cleanup(Mark) -> persistent_term:put(Mark, cleaned).
"#,
};

fn options(mark: &str) -> Term {
    Term::map([("mark", Term::atom(mark))])
}

/// Returns whether the node has no code and no process of the module, and the mark of its clean-up.
fn is_cleaned(module: &str, mark: &str) -> bool {
    let gone = eval(&format!(
        "{{code:is_loaded({module}), erlang:check_old_code({module}), \
         [P || P <- processes(), {{current_function, {{M, _, _}}}} <- \
         [process_info(P, current_function)], M =:= {module}], \
         persistent_term:get({mark}, none)}}"
    ));
    gone == "{false,false,[],cleaned}"
}

#[track_caller]
fn eventually_cleaned(module: &str, mark: &str) {
    let began = Instant::now();
    while !is_cleaned(module, mark) {
        assert!(began.elapsed() < Duration::from_secs(20), "{module} is still there");
        thread::sleep(Duration::from_millis(20));
    }
}

fn counting<'a>(connection: &'a Connection, mark: &str) -> Loaded<'a> {
    Loaded::agent(connection, COUNTING, Compiled::Well, options(mark)).unwrap()
}

#[test]
fn functions_and_requests() {
    let connection = connection();
    let mut loaded = counting(&connection, "mark_requests");
    assert_eq!(loaded.call("double", vec![21.into()], PROMPT).unwrap(), 42.into());
    let module = loaded.module().to_owned();

    let mut request = loaded.request("count", Term::map([("to", 2.into())])).unwrap();
    assert_eq!(request.next(PROMPT).unwrap(), Some(Reply::Event(1.into())));
    assert_eq!(request.next(PROMPT).unwrap(), Some(Reply::Event(2.into())));
    let result = Term::map([("module", Term::atom(&module))]);
    assert_eq!(request.next(PROMPT).unwrap(), Some(Reply::Done(result)));
    assert_eq!(request.next(Duration::from_millis(20)).unwrap(), None);
    drop(request);

    let error = loaded.request("sing", Term::map([])).unwrap().next(PROMPT).unwrap_err();
    assert!(matches!(&error, ErlangError::Agent { kind, .. } if kind == "unknown_request"));
    assert_eq!(error.to_string(), "not known");
    assert_eq!(loaded.end().unwrap().reason, Term::atom("stopped"));
    assert!(is_cleaned(&module, "mark_requests"));
}

#[test]
fn two_at_the_same_time() {
    let (one, other) = (connection(), connection());
    let first = counting(&one, "mark_first");
    let second = counting(&other, "mark_second");
    assert_ne!(first.module(), second.module());
    first.end().unwrap();
    assert_eq!(second.call("double", vec![1.into()], PROMPT).unwrap(), 2.into());
}

#[test]
fn gone_with_the_connection() {
    let connection = connection();
    let loaded = counting(&connection, "mark_connection");
    let module = loaded.module().to_owned();
    // The node closes the connection without notice.
    let own = connection.mailbox().pid().node.to_string();
    eval(&format!("erlang:disconnect_node({own})"));
    eventually_cleaned(&module, "mark_connection");
    let error = loaded.call("double", vec![1.into()], PROMPT).unwrap_err();
    assert!(matches!(error, ErlangError::Lost { .. }), "{error}");
}

#[test]
fn gone_when_the_agent_dies_and_the_program_learns_why() {
    let connection = connection();
    let mut loaded = counting(&connection, "mark_dies");
    let module = loaded.module().to_owned();
    let error = loaded.request("crash", Term::map([])).unwrap().next(PROMPT).unwrap_err();
    assert!(matches!(error, ErlangError::AgentGone { .. }), "{error}");
    assert!(error.to_string().contains("crashed"), "{error}");
    assert!(is_cleaned(&module, "mark_dies"));
}

#[test]
fn gone_although_the_agent_does_not_listen() {
    let connection = connection();
    let mut loaded = counting(&connection, "mark_hangs");
    let module = loaded.module().to_owned();
    let waiting = loaded.request("hang", Term::map([])).unwrap().next(Duration::from_millis(100));
    assert_eq!(waiting.unwrap(), None);
    let began = Instant::now();
    loaded.end().unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(is_cleaned(&module, "mark_hangs"));
}

/// Loads a foreign module with this name.
fn plant(connection: &Connection, module: &str) {
    let planted = format!(
        "Forms = [{{attribute, 1, module, {module}}}, {{attribute, 2, export, [{{here, 0}}]}}, \
          {{function, 3, here, 0, [{{clause, 3, [], [], [{{atom, 3, planted}}]}}]}}], \
         {{ok, {module}, Code}} = compile:forms(Forms, [binary]), \
         {{module, {module}}} = code:load_binary({module}, \"planted\", Code)."
    );
    connection.evaluate(&planted, &[], PROMPT).unwrap();
}

#[track_caller]
fn assert_planted(connection: &Connection, module: &str) {
    assert_eq!(connection.call(module, "here", vec![], PROMPT).unwrap(), Term::atom("planted"));
}

#[test]
fn a_module_that_was_put_in_the_place_of_ours_is_left_alone() {
    let connection = connection();
    let loaded = counting(&connection, "mark_replaced");
    let module = loaded.module().to_owned();
    plant(&connection, &module);
    loaded.end().unwrap();
    assert_planted(&connection, &module);
}

/// Uses the keeper itself, with a name that is not random.
#[test]
fn a_module_that_has_the_name_already_is_left_alone() {
    const KEEPER: &str = include_str!("../../src/agent/keeper.txt");
    let connection = connection();
    for (module, on_disk) in [("planted_before", false), ("xref_reader", true)] {
        if !on_disk {
            plant(&connection, module);
        }
        let before = eval(&format!("code:is_loaded({module})"));
        let mailbox = connection.mailbox();
        let bindings = [
            ("Controller", mailbox.pid().clone().into()),
            ("Module", Term::atom(module)),
            ("Source", Term::Binary(format!("-module({module}).\n").into_bytes())),
            ("Options", Term::List(vec![])),
            ("Start", Term::atom("none")),
            ("DeadmanMs", 15_000.into()),
        ];
        connection.evaluate(KEEPER, &bindings, PROMPT).unwrap();
        let said = mailbox.receive(PROMPT).unwrap();
        let taken = Term::tuple([
            Term::atom("rabbitscope_keeper"),
            Term::atom("taken"),
            Term::atom(module),
        ]);
        assert_eq!(said, Some(rabbitscope_erlang::Received::Message(taken)));
        assert_eq!(eval(&format!("code:is_loaded({module})")), before);
    }
    assert_planted(&connection, "planted_before");
}

#[test]
fn a_module_that_does_not_compile() {
    let connection = connection();
    let check = |text: &'static str, says: &str| {
        let error = Loaded::functions(&connection, ModuleSource { name: "bad", text }).unwrap_err();
        assert!(matches!(error, ErlangError::Load { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    check("-module(bad).\n-export([f/0]).\n", "undefined_function");
    check("-module(bad).\nf( -> ok.\n", "syntax error");
    check("-module(bad).\nf() -> ok", "not complete");
    check("-module(bad).\nf() -> \"ok.\n", "string,");
    assert!(connection.call("erlang", "node", vec![], PROMPT).is_ok());
}
