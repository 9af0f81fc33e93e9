//! Several tracers on one node. On OTP 25 and 26, only one of ours runs at a time, and the settings of others stay.

use std::{thread, time::Duration};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Workbench, evaluate, eventually, node_options, signal};
use rustix::process::Signal;

use super::remains::{assert_nothing_left, busy_broker};

/// All commands that trace, until they are told to stop.
const TRACING: [&str; 3] = [
    "trace lists:reverse/1 --limit 100000 --duration 60s",
    "calltree lists:reverse/1 --duration 60s -o tree.folded",
    "functions --process busy --counters --duration 60s",
];

/// Another tracer sets flags and patterns of all kinds, some on functions that we trace.
const SET: &str = "Tracer = spawn(fun() -> register(somebody, self()), (fun Loop() -> receive stop -> ok; _ -> Loop() end end)() end), \
    timer:sleep(20), \
    catch erlang:trace(whereis(rabbit_sup), true, [send, {tracer, Tracer}]), \
    erlang:trace(new_processes, true, [procs, {tracer, Tracer}]), \
    erlang:trace_pattern({lists, reverse, 1}, [{'_', [], [{return_trace}]}], [local]), \
    erlang:trace_pattern({timer, sleep, 1}, [{['$1'], [{'>', '$1', 100}], []}], [local]), \
    erlang:trace_pattern({lists, member, 2}, true, [{meta, Tracer}]), \
    erlang:trace_pattern({lists, keymember, 3}, true, [global])";

/// Erlang that returns the remaining settings. A process that we already trace cannot get the other tracer's flags.
const IS_SET: &str = "{[erlang:trace_info(Who, flags) || Who <- [new, whereis(rabbit_sup)], \
     erlang:trace_info(Who, tracer) =:= {tracer, whereis(somebody)}], \
    [erlang:trace_info(F, I) || F <- [{lists, reverse, 1}, {timer, sleep, 1}, {lists, keymember, 3}], \
     I <- [traced, match_spec]], erlang:trace_info({lists, member, 2}, meta) =:= {meta, whereis(somebody)}}";

const CLEAR: &str = "erlang:trace(whereis(rabbit_sup), false, [all]), erlang:trace(new_processes, false, [all]), \
    [erlang:trace_pattern(F, false, [Kind]) || F <- [{lists, reverse, 1}, {timer, sleep, 1}, {lists, member, 2}, \
     {lists, keymember, 3}, {'_', '_', '_'}], Kind <- [local, global, meta, call_count]], \
    [erlang:trace(P, false, [all]) || P <- processes(), P =/= self()], \
    catch (somebody ! stop), timer:sleep(20)";

const TRACES: &str = "erlang:trace_info({lists, reverse, 1}, all) =/= {all, false} orelse \
    (list_to_integer(erlang:system_info(otp_release)) >= 27 andalso \
     trace:session_info(all) -- [{legacy, default}] =/= [])";

fn has_sessions(broker: &Broker) -> bool {
    evaluate(broker, "list_to_integer(erlang:system_info(otp_release)) >= 27") == "true"
}

fn await_tracing(broker: &Broker, of: &str) {
    eventually(&format!("{of} traces"), || evaluate(broker, TRACES) == "true");
    // Counting comes first, and sets the first patterns.
    thread::sleep(Duration::from_secs(2));
}

#[test]
fn of_three_that_begin_together_one_traces() {
    let bench = Workbench::new("three-tracers");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    let traces = |broker: &Broker| if has_sessions(broker) { 3 } else { 1 };
    for _ in 0..3 {
        let command = format!(
            "trace timer:sleep/1 --process busy --json --limit 100000 --duration 4s {node}"
        );
        let running = [(); 3].map(|()| bench.start(&command));
        let ended = running.map(|child| (child.id(), child.wait_with_output().unwrap()));
        let (done, refused): (Vec<_>, Vec<_>) =
            ended.iter().partition(|(_, it)| it.status.success());
        assert_eq!(done.len(), traces(&broker), "{ended:?}");
        for (_, it) in &done {
            let said = String::from_utf8_lossy(&it.stdout);
            let last: serde_json::Value =
                serde_json::from_str(said.lines().last().unwrap()).unwrap();
            let calls = last["calls"].as_u64().unwrap();
            let lines = u64::try_from(said.lines().count()).unwrap() - 1;
            assert!(calls > 300 && lines == calls, "{lines} of {last}");
            assert_eq!(last["stopped-by"], "duration", "{last}");
        }
        for (_, it) in &refused {
            let said = String::from_utf8_lossy(&it.stderr);
            let holder = format!(
                "another tracer is active on this node (rabbitscope, process {},",
                done[0].0
            );
            assert_eq!((it.status.code(), said.lines().count()), (Some(1), 1), "{said}");
            assert!(said.contains(&holder), "{said}");
        }
        assert_nothing_left(&broker, "all three");
    }
}

#[test]
fn what_others_have_set_before_is_left_and_said() {
    let bench = Workbench::new("foreign-before");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    evaluate(&broker, SET);
    let before = evaluate(&broker, IS_SET);
    assert!(before.contains("{flags,[send]}"), "{before}");
    for command in TRACING {
        let command = format!("{} {node}", command.replace("60s", "1s"));
        if has_sessions(&broker) {
            bench.rabbitscope(&command).code(0);
        } else {
            bench.rabbitscope(&command).code(1).says(&["another tracer"]);
        }
        assert_eq!(evaluate(&broker, IS_SET), before, "{command}");
    }
    evaluate(&broker, CLEAR);
    assert_nothing_left(&broker, "anybody");
}

#[test]
fn what_others_set_meanwhile_is_left() {
    let bench = Workbench::new("foreign-meanwhile");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    for command in TRACING {
        for end in [Signal::INT, Signal::KILL] {
            let running = bench.start(&format!("{command} {node}"));
            await_tracing(&broker, command);
            evaluate(&broker, SET);
            let set = evaluate(&broker, IS_SET);
            assert!(set.contains("procs") && set.contains("return_trace"), "{set}");
            signal(&running, end);
            running.wait_with_output().unwrap();
            let loaded = "[M || {M, _} <- code:all_loaded(), lists:prefix(\"rabbitscope_\", atom_to_list(M))]";
            eventually("nothing of us is loaded", || evaluate(&broker, loaded) == "[]");
            assert_eq!(evaluate(&broker, IS_SET), set, "{command}, {end:?}");
            evaluate(&broker, CLEAR);
            assert_nothing_left(&broker, command);
        }
    }
}

/// Sets counters as `cprof` does: they have no owner.
#[test]
fn counters_of_others_go_on() {
    let bench = Workbench::new("foreign-counters");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    let counts = "[is_integer(element(2, erlang:trace_info(F, call_count))) || F <- [{lists, reverse, 1}, {lists, foldl, 3}]]";
    // Some of these modules follow the agent's module in the list of modules, wherever it stands.
    let lost = "[M || M <- [application, binary, code, ets, file, gen, gen_server, io_lib, logger, maps, proplists, supervisor, \
        rabbit, rabbit_channel, rabbit_misc, rabbit_reader], \
        not is_integer(element(2, erlang:trace_info({M, module_info, 0}, call_count)))]";
    // A counter on a function that we are counting cannot be told from ours.
    let is_counted = "is_integer(element(2, erlang:trace_info({lists, reverse, 1}, call_count)))";
    for command in TRACING {
        let running = bench.start(&format!("{command} {node}"));
        await_tracing(&broker, command);
        eventually("our own counting is over", || evaluate(&broker, is_counted) == "false");
        evaluate(&broker, "erlang:trace_pattern({'_', '_', '_'}, true, [call_count])");
        signal(&running, Signal::INT);
        running.wait_with_output().unwrap();
        assert_eq!(evaluate(&broker, counts), "[true,true]", "{command}");
        assert_eq!(evaluate(&broker, lost), "[]", "{command}");
        evaluate(&broker, CLEAR);
        assert_nothing_left(&broker, command);
    }
}
