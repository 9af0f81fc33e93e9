//! What crashes the VM is refused by its version, and by nobody's carelessness.

use std::time::Duration;

use rabbitscope_erlang::{
    Connection, Loaded, Source, Term,
    probes::{Trigger, Who},
};

use crate::{
    node::{connection, eval, tracing_alone},
    planted::{recorded_during, tree_of},
    probes::assert_nothing_left,
};

/// The agent's gate as a module whose functions can be called.
const GATE: Source = Source {
    name: "gate",
    text: concat!(
        "-module(gate).\n-export([crash/2, flags/1, pattern/2]).\n",
        "crash(What, Version) -> text(known_crash(What, erts_version(binary_to_list(Version)))).\n",
        "flags(Who) -> passed(fun() -> pass_flags(Who) end).\n",
        "pattern(Spec, Kinds) -> passed(fun() -> pass_pattern(Spec, Kinds) end).\n",
        "passed(Pass) -> try Pass() catch throw:{refused, known_crash, Line} -> text(Line) end.\n",
        "text(none) -> none;\ntext(Line) -> unicode:characters_to_binary(Line).\n",
        include_str!("../../../../agent/gate.erl"),
    ),
};

const PROMPT: Duration = Duration::from_secs(10);

fn loaded(connection: &Connection) -> Loaded<'_> {
    Loaded::functions(connection, GATE).unwrap()
}

fn asked(gate: &Loaded<'_>, function: &str, arguments: &[Term]) -> Option<String> {
    let answer = gate.call(function, arguments.to_vec(), PROMPT);
    answer.unwrap().to_text()
}

#[test]
fn versions_that_crash_are_known() {
    let connection = connection();
    let gate = loaded(&connection);
    let check = |what: &str, version: &str, issue: Option<&str>| {
        let line = asked(&gate, "crash", &[Term::atom(what), Term::text(version)]);
        assert_eq!(line.is_some(), issue.is_some(), "{what} {version}: {line:?}");
        if let (Some(line), Some(issue)) = (line, issue) {
            assert!(line.contains(issue) && line.contains(version), "{line}");
            assert_eq!(line.lines().count(), 1);
        }
    };
    check("all_processes", "13.1.5", Some("#8286"));
    check("all_processes", "14.2.5.4", Some("#8286"));
    check("all_processes", "14.2.5.5", None);
    check("all_processes", "15.2.7", None);
    check("restarted_times", "13.1.5", Some("#8835"));
    check("restarted_times", "15.1", Some("#8835"));
    check("restarted_times", "15.1.2", None);
    check("call_times", "10.6", Some("#4635"));
    check("call_times", "10.7.2.8", Some("#4635"));
    check("call_times", "11", None);
    check("call_times", "13.1.5", None);
    check("collections_twice", "14.2.5", None);
    check("collections_twice", "15.2.7", Some("#11624"));
    let candidate = [Term::atom("collections_twice"), Term::text("15.0-rc1")];
    assert!(asked(&gate, "crash", &candidate).is_some());
}

#[test]
fn what_sets_traces_passes_the_gate_of_this_node() {
    let connection = connection();
    let gate = loaded(&connection);
    let version = eval("list_to_binary(erlang:system_info(version))");
    let parts: Vec<u32> =
        version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let mended = parts >= vec![14, 2, 5, 5];
    for all in ["all", "existing", "processes", "existing_processes", "ports"] {
        let line = asked(&gate, "flags", &[Term::atom(all)]);
        assert_eq!(line.is_none(), mended, "{all} on {version}: {line:?}");
    }
    let own = connection.evaluate("self().", &[], PROMPT).unwrap();
    assert_eq!(asked(&gate, "flags", &[own]), None);
    assert_eq!(asked(&gate, "flags", &[Term::atom("new_processes")]), None);

    let kinds = |kind: &str| Term::list([Term::atom(kind)]);
    let pattern =
        |spec: &str, kind: &str| asked(&gate, "pattern", &[Term::atom(spec), kinds(kind)]);
    assert_eq!(pattern("true", "call_time"), None);
    assert_eq!(pattern("restart", "call_count"), None);
    assert_eq!(pattern("restart", "call_time").is_none(), parts >= vec![15, 1, 2]);
}

/// The end of a recording leaves the flags of others alone, also of those who came while it went on.
#[test]
fn a_tracer_that_comes_later_keeps_its_processes() {
    let _alone = tracing_alone();
    let request = tree_of(Trigger::Process(Who::process("rabbit_sup")));
    recorded_during(&request, || {
        eval(
            "Tracer = spawn(fun() -> register(later, self()), receive stop -> ok end end), \
             1 = erlang:trace(whereis(rabbit), true, ['receive', {tracer, Tracer}]), ok",
        );
    });
    let theirs = "[erlang:trace_info(whereis(rabbit), Item) || Item <- [flags, tracer]] \
        =:= [{flags, ['receive']}, {tracer, whereis(later)}]";
    assert_eq!(eval(theirs), "true");
    eval("erlang:trace(whereis(rabbit), false, [all]), later ! stop");
    assert_nothing_left();
}
