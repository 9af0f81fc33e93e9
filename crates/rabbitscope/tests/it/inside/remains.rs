//! The remains of the commands that look inside a node, after any end; and the places where the cookie must not be.

use std::{
    fs,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ends, Stops, Workbench, broker_with, evaluate, eventually, load_module, node_options, pid,
    program, signal,
};
use rustix::process::Signal;

/// Erlang that returns our remains on the node: traced processes, flags for new ones, patterns, modules, processes
/// that run one of these or code sent as text, and trace sessions.
pub(crate) const LEFT: &str = "{[P || P <- processes(), {flags, [_ | _]} <- [erlang:trace_info(P, flags)]], \
    {erlang:trace_info(new, flags), erlang:system_info(trace_control_word)}, \
    [F || F <- [{lists, map, 2}, {gen, do_call, 4}, {gen_server, loop, 7}, {lists, reverse, 1}], \
     not lists:member(erlang:trace_info(F, all), [{all, false}, {all, undefined}])], \
    [M || {M, _} <- code:all_loaded(), lists:prefix(\"rabbitscope_\", atom_to_list(M))], \
    [P || P <- processes(), P =/= self(), {_, Stack} <- [process_info(P, current_stacktrace)], \
     lists:any(fun({M, _, _, _}) -> M =:= erl_eval orelse lists:prefix(\"rabbitscope_\", atom_to_list(M)) end, Stack)], \
    case list_to_integer(erlang:system_info(otp_release)) >= 27 of \
     true -> trace:session_info(all) -- [{legacy, default}]; false -> [] end}";

/// Erlang that tells whether the settings that all recordings make are set.
const TRACES: &str = "case list_to_integer(erlang:system_info(otp_release)) >= 27 of \
     true -> trace:session_info(all) -- [{legacy, default}] =/= []; \
     false -> erlang:trace_info({lists, map, 2}, traced) =/= {traced, false} end";

/// Erlang that tells whether one of our modules is loaded. A process of ours may also evaluate the expression above.
pub(crate) const LOADED: &str = "lists:any(fun({M, _}) -> lists:prefix(\"rabbitscope_\", atom_to_list(M)) end, \
    code:all_loaded())";

pub(crate) const NOTHING: &str = "{[],{{flags,[]},0},[],[],[],[]}";

#[track_caller]
pub(crate) fn assert_nothing_left(broker: &Broker, of: &str) {
    eventually(&format!("nothing is left of {of}: {}", evaluate(broker, LEFT)), || {
        evaluate(broker, LEFT) == NOTHING
    });
}

/// Waits until the program is at work on the node.
#[track_caller]
pub(crate) fn await_work(broker: &Broker, of: &str) {
    eventually(&format!("{of} is on the node"), || evaluate(broker, LOADED) == "true");
    thread::sleep(Duration::from_secs(1));
}

/// Calls two functions all the time. It is compiled, so that it does not count as code of ours.
const BUSY: &str = "-module(busy).\n-export([run/0]).\n\
    run() -> put(last, lists:reverse([erlang:get_cookie()])), timer:sleep(1), run().\n";

pub(crate) fn busy_broker(bench: &Workbench) -> Broker {
    // A node that no test has used: some of its processes might evaluate code sent as text.
    let broker = broker_with(|_| ());
    start_busy(bench, &broker);
    broker
}

/// Starts the process `busy`.
pub(crate) fn start_busy(bench: &Workbench, broker: &Broker) {
    let source = bench.file("busy.erl", BUSY);
    load_module(broker, &source);
    evaluate(broker, "register(busy, spawn(busy, run, []))");
}

const PROBES: [&str; 5] = [
    "trace lists:reverse/1 --args --limit 100000 --duration 60s",
    "calltree lists:reverse/1 --follow --duration 60s -o out/tree.folded",
    "functions --process busy --duration 60s",
    "functions --process busy --counters --duration 60s",
    "profile --from-inside --duration 60s -o out/profile.folded",
];

/// The commands that list; without a terminal, they list once.
const LISTS: [&str; 4] =
    ["queues --watch", "top --interval 60s", "top queues --interval 60s", "check --duration 60s"];

/// Starts the program at a terminal, where it is live.
fn start_live(bench: &Workbench, arguments: &str) -> Child {
    let mut script = bench.command_line("script --quiet --flush --return --command");
    script.arg(format!("exec {} {arguments}", program().display())).arg("/dev/null");
    script.stdout(Stdio::null()).spawn().unwrap()
}

/// Returns the only child of a process.
fn child_of(parent: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_kill_during_any_probe_leaves_nothing() {
    let bench = Workbench::new("killed-probe");
    fs::create_dir(bench.path("out")).unwrap();
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    assert_nothing_left(&broker, "the preparation");
    for probe in PROBES.into_iter().chain(LISTS) {
        let running = bench.start(&format!("{probe} {node}"));
        await_work(&broker, probe);
        running.killed();
        assert_nothing_left(&broker, probe);
    }
    for probe in ["top --interval 1s", "queues --watch"] {
        let mut terminal = start_live(&bench, &format!("{probe} {node}"));
        await_work(&broker, probe);
        rustix::process::kill_process(pid(child_of(terminal.id())), Signal::KILL).unwrap();
        terminal.wait().unwrap();
        assert_nothing_left(&broker, probe);
    }
}

#[test]
fn a_connection_that_drops_and_a_program_that_stops_leave_nothing() {
    let bench = Workbench::new("dropped");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    // The traced function is not one that our own expressions call: they would reach the limit first.
    let probe = format!("trace timer:sleep/1 --process busy --limit 100000 --duration 60s {node}");
    let running = bench.start(&probe);
    await_work(&broker, "the first");
    evaluate(
        &broker,
        "[timer:apply_after(300, erlang, disconnect_node, [Node]) || Node <- nodes(hidden)], ok",
    );
    running.ended().code(5);
    assert_nothing_left(&broker, "the first");

    let running = bench.start(&probe);
    await_work(&broker, "the second");
    signal(&running, Signal::STOP);
    // The program has 15 seconds to show a sign of life; the connection stays open.
    assert_nothing_left(&broker, "the second");
    signal(&running, Signal::CONT);
    let ended = running.ended();
    assert_ne!(ended.code, Some(0), "{ended:#?}");
}

#[test]
fn a_program_that_is_silent_for_long_enough_is_taken_for_dead() {
    let bench = Workbench::new("silent");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    for outside in ["1s", "11m"] {
        let refused = format!("top --dead-man {outside} {node}");
        bench.rabbitscope(&refused).code(2).says(&["--dead-man", "from 3s to 10m"]);
    }
    let probe = format!(
        "trace timer:sleep/1 --process busy --limit 100000 --duration 60s --dead-man 4s {node}"
    );
    let running = bench.start(&probe);
    await_work(&broker, "a probe");
    thread::sleep(Duration::from_secs(5));
    assert_ne!(evaluate(&broker, LEFT), NOTHING, "it shows signs of life");

    signal(&running, Signal::STOP);
    let silent = Instant::now();
    thread::sleep(Duration::from_secs(2));
    assert_ne!(evaluate(&broker, LEFT), NOTHING, "two seconds are not four");
    assert_nothing_left(&broker, "a probe that is silent");
    let removed = silent.elapsed();
    assert!(removed < Duration::from_secs(12), "{removed:?}, and without the option it takes 15 s");
    signal(&running, Signal::CONT);
    let ended = running.ended();
    assert!(ended.code != Some(0) && ended.stderr.contains("for 4 s"), "{ended:#?}");

    // If its connection ends, the node does not wait, however long the allowed silence is.
    let running = bench.start(&probe.replace("4s", "10m"));
    await_work(&broker, "a probe");
    running.killed();
    assert_nothing_left(&broker, "a probe that was killed");
}

/// Erlang that tells whether the node counts the work of its threads. A query of the flag would set it.
const COUNTS: &str = "Sum = fun() -> lists:sum([lists:sum(maps:values(Counters)) \
     || #{counters := Counters} <- erlang:statistics(microstate_accounting)]) end, \
     Before = Sum(), timer:sleep(50), Sum() > Before";

#[test]
fn the_accounting_of_microstates_is_as_before() {
    let bench = Workbench::new("microstates");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    let counts = || evaluate(&broker, COUNTS) == "true";
    let begins = |interval: &str| {
        let running = bench.start(&format!("top --once --interval {interval} {node}"));
        await_work(&broker, "top");
        running
    };
    assert!(!counts(), "nobody has asked for it");
    let ends_well = begins("6s");
    eventually("microstates are counted", counts);
    ends_well.ended().code(0);
    assert!(!counts(), "off again when top has ended");

    let killed = begins("60s");
    eventually("microstates are counted", counts);
    killed.killed();
    assert_nothing_left(&broker, "top");
    assert!(!counts(), "off again when top was killed");

    evaluate(&broker, "erlang:system_flag(microstate_accounting, true)");
    bench.rabbitscope(&format!("top --once --interval 2s {node}")).code(0);
    assert!(counts(), "somebody else wants it");
    let killed = begins("60s");
    let asleep = "[P || P <- processes(), {_, Stack} <- [process_info(P, current_stacktrace)], \
         {M, top, _, _} <- Stack, lists:prefix(\"rabbitscope_top\", atom_to_list(M))] =/= []";
    eventually("top waits between its snapshots", || evaluate(&broker, asleep) == "true");
    killed.killed();
    assert_nothing_left(&broker, "top");
    assert!(counts(), "somebody else wants it still");
}

#[test]
fn two_programs_do_not_get_into_each_others_way() {
    let bench = Workbench::new("two-programs");
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    let first =
        bench.start(&format!("calltree timer:sleep/1 --duration 20s -o tree.folded {node}"));
    // The compilation may take long before the trace starts.
    eventually("the first traces", || evaluate(&broker, TRACES) == "true");
    evaluate(&broker, "spawn(fun() -> timer:sleep(20) end), timer:sleep(200)");
    let second = format!("functions --process rabbit_sup --duration 1s {node}");
    let has_sessions = evaluate(&broker, "list_to_integer(erlang:system_info(otp_release)) >= 27");
    if has_sessions == "true" {
        bench.rabbitscope(&second).code(0);
    } else {
        bench.rabbitscope(&second).code(1).says(&["another tracer"]);
    }
    first.ended().code(0);
    let folded = bench.read("tree.folded");
    assert!(folded.contains("timer:sleep/1;[wait]"), "{folded}");
    assert_nothing_left(&broker, "both");
}

/// Returns arguments and environment of a process, as other users may see them.
#[track_caller]
fn shown_of(pid: u32) -> [String; 2] {
    ["cmdline", "environ"].map(|file| {
        let path = format!("/proc/{pid}/{file}");
        let shown =
            fs::read(&path).unwrap_or_else(|error| panic!("{path} cannot be read: {error}"));
        String::from_utf8_lossy(&shown).into_owned()
    })
}

/// The search for the cookie finds a cookie that is shown.
#[test]
fn a_cookie_that_is_shown_would_be_seen() {
    let child =
        std::process::Command::new("sleep").args(["20"]).env("PLANTED", "COOKIE").spawn().unwrap();
    eventually("the program runs", || shown_of(child.id())[0].starts_with("sleep"));
    let seen = shown_of(child.id());
    child.killed();
    assert!(seen[0].contains("20") && seen[1].contains("PLANTED=COOKIE"), "{seen:?}");
}

#[test]
fn the_cookie_is_nowhere() {
    let bench = Workbench::new("cookie");
    fs::create_dir(bench.path("out")).unwrap();
    let broker = busy_broker(&bench);
    let (home, _) = broker.distribution();
    let cookie = fs::read_to_string(home.join(".erlang.cookie")).unwrap();
    let node = node_options(&broker);
    let own = "trace erlang:get_cookie/0 --args --return --limit 100000 --duration 2s";
    for probe in PROBES.map(|probe| probe.replace("60s", "2s")).iter().chain([&own.to_owned()]) {
        let running = bench.start(&format!("{probe} {node}"));
        await_work(&broker, probe);
        let [arguments, environment] = shown_of(running.id());
        // The text belongs to the program, and could contain a cookie.
        assert!(arguments.contains(&broker.node_name()), "{arguments}");
        assert!(environment.contains("XDG_STATE_HOME="), "{environment}");
        for shown in [arguments, environment] {
            assert!(!shown.contains(&cookie), "{probe}: {shown}");
        }
        let ended = running.ended().code(0);
        for said in [&ended.stdout, &ended.stderr] {
            assert!(!said.contains(&cookie), "{probe}: {said}");
        }
        let said = ended.stdout;
        assert!(*probe != own || said.contains("[not shown: authentication]"), "{said}");
    }
    assert!(fs::read_dir(bench.path("out")).unwrap().count() >= 2);
    assert!(bench.files_with("out", &cookie).is_empty());
    assert!(!fs::read_to_string(&broker.log).unwrap().contains(&cookie));
}

/// Every session leaves the names of our node and of our module in the node's table of atoms, forever.
#[test]
fn a_session_makes_two_atoms() {
    const MAX: i64 = 3;
    const USES: i64 = 3;
    let bench = Workbench::new("atoms");
    fs::create_dir(bench.path("out")).unwrap();
    let broker = busy_broker(&bench);
    let node = node_options(&broker);
    // A query is also a session, with its own name.
    let atoms = || evaluate(&broker, "erlang:system_info(atom_count)").parse::<i64>().unwrap();
    let probes = PROBES.map(|probe| probe.replace("60s", "300ms"));
    let lists = ["queues --json", "top --json --interval 300ms"].map(str::to_owned);
    let ask = atoms();
    let asked = atoms() - ask;
    for command in probes.iter().chain(&lists) {
        let command = format!("{command} {node}");
        let before = atoms();
        bench.rabbitscope(&command).code(0);
        let first = atoms();
        for _ in 0..USES {
            bench.rabbitscope(&command).code(0);
        }
        let each = (atoms() - first - asked) / USES;
        println!("{command}: {} at the first use, then {each}", first - before - asked);
        assert!(each <= MAX, "{each} atoms a session: {command}");
    }
}
