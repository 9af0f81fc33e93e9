//! Trace operations that crash the VM are refused by its version, and all code that sets a trace makes this check.

use std::time::Duration;

use rabbitscope_erlang::{
    Connection, Loaded, ModuleSource, Term,
    probes::{Trigger, Who},
};

use crate::{
    node::{connection, eval, tracing_alone},
    planted::{recorded_during, tree_of},
    probes::assert_nothing_left,
};

/// The decisions on known crashes, as a module of its own.
const KNOWN_CRASHES: ModuleSource = ModuleSource {
    name: "known_crashes_test",
    text: include_str!(concat!(env!("OUT_DIR"), "/known_crashes_test.erl")),
};

const PROMPT: Duration = Duration::from_secs(10);

fn loaded(connection: &Connection) -> Loaded<'_> {
    Loaded::functions(connection, KNOWN_CRASHES).unwrap()
}

fn refusal(known_crashes: &Loaded<'_>, function: &str, arguments: &[Term]) -> Option<String> {
    let answer = known_crashes.call(function, arguments.to_vec(), PROMPT);
    answer.unwrap().to_text()
}

#[test]
fn versions_that_crash_are_known() {
    let connection = connection();
    let known_crashes = loaded(&connection);
    let check = |what: &str, version: &str, issue: Option<&str>| {
        let line = refusal(&known_crashes, "crash", &[Term::atom(what), Term::text(version)]);
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
    assert!(refusal(&known_crashes, "crash", &candidate).is_some());
}

#[test]
fn trace_operations_are_refused_where_this_node_crashes() {
    let connection = connection();
    let known_crashes = loaded(&connection);
    let version = eval("list_to_binary(erlang:system_info(version))");
    let parts: Vec<u32> =
        version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let mended = parts >= vec![14, 2, 5, 5];
    for all in ["all", "existing", "processes", "existing_processes", "ports"] {
        let line = refusal(&known_crashes, "flags", &[Term::atom(all)]);
        assert_eq!(line.is_none(), mended, "{all} on {version}: {line:?}");
    }
    let own = connection.evaluate("self().", &[], PROMPT).unwrap();
    assert_eq!(refusal(&known_crashes, "flags", &[own]), None);
    assert_eq!(refusal(&known_crashes, "flags", &[Term::atom("new_processes")]), None);

    let kinds = |kind: &str| Term::list([Term::atom(kind)]);
    let pattern = |spec: &str, kind: &str| {
        refusal(&known_crashes, "pattern", &[Term::atom(spec), kinds(kind)])
    };
    assert_eq!(pattern("true", "call_time"), None);
    assert_eq!(pattern("restart", "call_count"), None);
    assert_eq!(pattern("restart", "call_time").is_none(), parts >= vec![15, 1, 2]);
}

/// The end of a recording keeps the flags of other tracers, including those that started during it.
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
