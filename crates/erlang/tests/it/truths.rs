//! Call trees of functions that know their own times.

use rabbitscope_erlang::{
    Term,
    probes::{CallTree, NodeKey, TreeNode},
};

use crate::{
    node::{broker, connection, tracing_alone},
    planted::{LONG, Planted, below, busy, close, figures, micros, recorded, spent},
    probes::assert_nothing_left,
};

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

/// The process reports its lifetime, and the recorded time of its call does not exceed it.
#[test]
fn a_call_ends_with_its_process() {
    const TIMES: i64 = 20;
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    for (entry, kind) in [("brief_once", "ends"), ("brief_failing", "fails")] {
        let call = ("brief", vec![Term::atom(kind), TIMES.into()]);
        let (tree, truth) = recorded(&planted, &format!("{entry}/0"), false, call);
        let (run, wait) = spent(&tree, entry);
        // The last moments of a process belong to it as well.
        let most = figures(&truth).0 + 1e3 * TIMES as f64;
        assert!(run + wait < most, "{kind}: {run} and {wait} µs of {truth}: {:#?}", tree.nodes);
        assert!(tree.result.calls > 0, "{kind}: {:?}", tree.result);
    }
    assert_nothing_left();
}

/// The end of a process's first call is not traced, in particular not an exception.
#[test]
fn a_call_that_failed_hides_no_later_one() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let call = ("brief", vec![Term::atom("catches"), 10.into()]);
    let (tree, _) = recorded(&planted, "brief_failing/0", false, call);
    assert_eq!(tree.result.calls_on_node, 30, "{:?}", tree.result);
    // All calls of a process that is not admitted at once are missing, and none of the others.
    assert!(tree.result.calls >= 15, "{:?}", tree.result);
    assert_eq!(tree.result.calls % 3, 0, "{:?}", tree.result);
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
    let (spun, slept) = figures(&truth);
    close("running, asked and asking", spent(&tree, "spin").0, spun);
    close("the wait of whom is asked", spent(&tree, "nap").1, slept);
    let is_server = |node: &TreeNode| matches!(node.key, NodeKey::Process(..)) && node.parent != 0;
    assert!(tree.nodes.iter().any(is_server), "{:#?}", tree.nodes);
    // The wait of the caller is replaced by the server's activity.
    let is_own =
        |node: &&TreeNode| matches!(&node.key, NodeKey::Off(Some(f)) if f.name == "do_call");
    let own = micros(below(&tree, "ask_once").filter(is_own), |node| node.wait);
    assert!(own < 0.05 * slept, "{own} of {slept}: {:#?}", tree.nodes);
    assert_nothing_left();
}

#[test]
fn a_wait_that_began_in_a_pause_is_followed() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let server = planted.call("start_server", vec![], LONG).unwrap();
    let (tree, truth) = recorded(&planted, "ask_late_once/1", true, ("ask_late", vec![server]));
    let (elapsed, slept) = figures(&truth);
    assert!(tree.result.windows > 1, "{:?}", tree.result);
    let followed = spent(&tree, "nap").1;
    assert!(followed > 0.3 * slept, "{followed} of {slept}: {:#?}", tree.nodes);
    // No time counts twice, and none counts for a function that was left in a pause.
    let all = micros(tree.nodes.iter(), busy) + micros(tree.nodes.iter(), |node| node.wait);
    assert!(all < 1.05 * elapsed, "{all} of {elapsed}: {:#?}", tree.nodes);
    let counting = spent(&tree, "leaves").0;
    assert!(counting < 1.05 * (elapsed - slept), "{counting} of {elapsed}: {:#?}", tree.nodes);
    assert_nothing_left();
}

#[test]
fn collections_are_told_apart() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let collected = |tree: &CallTree, name: &str| micros(below(tree, name), |node| node.gc);
    let call = ("collect", vec![20.into()]);
    let (tree, truth) = recorded(&planted, "collect_once/0", false, call);
    let (spun, swept) = figures(&truth);
    // A scheduler of its own collects a large heap, and the process waits for it.
    close("collections of known length", spent(&tree, "garbage_collect").0, swept);
    assert!(collected(&tree, "garbage_collect") > 0.1 * swept, "{:#?}", tree.nodes);
    close("running between them", spent(&tree, "spin").0, spun);

    let call = ("pressure", vec![5.into()]);
    let (tree, truth) = recorded(&planted, "pressure_once/0", false, call);
    let (elapsed, _) = figures(&truth);
    close("running under pressure", spent(&tree, "pressure_once").0, elapsed);
    let share = collected(&tree, "pressure_once") / elapsed;
    assert!((0.01..0.9).contains(&share), "{share}");
    assert_nothing_left();
}

/// The call's own figures, and fprof's calls and accumulated milliseconds of each function.
const FPROF: &str = "{ok, Trace} = file:open(DEVICE, [write]), file:close(Trace), \
    Said = fprof:apply(planted, nested_once, [], [{file, DEVICE}]), \
    fprof:profile([{file, DEVICE}]), \
    fprof:analyse([{dest, DEVICE ++ \".txt\"}, {cols, 120}]), fprof:stop(), \
    {ok, Terms} = file:consult(DEVICE ++ \".txt\"), \
    {Said, maps:from_list([{Name, {Calls, Accumulated}} \
     || {_, {{planted, Name, _}, Calls, Accumulated, _}, _} <- Terms])}";

#[test]
fn a_small_case_is_as_fprof_has_it() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let call = ("nest", vec![1.into()]);
    let (tree, truth) = recorded(&planted, "nested_once/0", false, call);
    let file = broker().directory.join("fprof");
    let asked = FPROF.replace("DEVICE", &format!("\"{}\"", file.display())) + ".";
    let fprof = connection.evaluate(&asked, &[], LONG).unwrap();
    let [said, table] = fprof.as_tuple().unwrap() else { panic!("{fprof}") };
    for name in ["nested", "deeper", "spin", "nap"] {
        let is_named =
            |node: &&TreeNode| matches!(&node.key, NodeKey::Function(f) if f.name == name);
        let counted: u64 = tree.nodes.iter().filter(is_named).map(|node| node.calls).sum();
        let calls = table.get(name).unwrap().as_tuple().unwrap()[0].as_u64();
        assert_eq!(Some(counted), calls, "{name}: {table}");
    }
    // The two calls differ, so each is compared with its own figures.
    let ((spun, slept), (fprof_spun, fprof_slept)) = (figures(&truth), figures(said));
    let fprof = |name: &str| figures(table.get(name).unwrap()).1 * 1e3;
    close("nested", spent(&tree, "nested").0 / spun, fprof("nested") / fprof_spun);
    close("nap", spent(&tree, "nap").1 / slept, fprof("nap") / fprof_slept);
    for suffix in ["", ".txt"] {
        std::fs::remove_file(format!("{}{suffix}", file.display())).unwrap();
    }
    assert_nothing_left();
}
