//! The growth of the node's memory that ends a probe.

use std::{thread, time::Duration};

use rabbitscope_erlang::{
    Loaded, ModuleSource, Term,
    probes::{TreeResult, Trigger},
};

use crate::{
    node::{connection, eval, tracing_alone},
    planted::{LONG, Planted, pattern, recorded_during, tree_of},
    probes::assert_nothing_left,
};

/// The budget decision of the agent, as a module of its own.
const BUDGETS: ModuleSource = ModuleSource {
    name: "budgets_test",
    text: include_str!(concat!(env!("OUT_DIR"), "/budgets_test.erl")),
};

#[test]
fn a_quarter_of_the_growth_or_very_much_of_it() {
    let connection = connection();
    let budgets = Loaded::functions(&connection, BUDGETS).unwrap();
    let check = |grown: i64, own: i64, expected: &str| {
        let stop = budgets.call("stop", vec![grown.into(), own.into()], LONG).unwrap();
        assert_eq!(stop, Term::atom(expected), "{grown} MiB, of which {own}");
    };
    check(48, 48, "none");
    check(49, 13, "max_node_memory_bytes");
    check(49, 12, "none");
    check(400, 99, "none");
    check(400, 100, "max_node_memory_bytes");
    check(480, 0, "none");
    check(481, 0, "max_node_growth_bytes");
    check(-100, 20, "none");
}

/// Records while another process takes this much of the node's memory.
fn recorded_while_the_node_grows(planted: &Planted<'_>, mebibytes: u32) -> TreeResult {
    let request = tree_of(Trigger::Call(pattern("work_once/0")));
    let (tree, ()) = recorded_during(&request, || {
        eval(&format!(
            "register(grown, spawn(fun() -> Held = binary:copy(<<0>>, {mebibytes} bsl 20), \
             receive {{held, To}} -> To ! byte_size(Held) end, receive stop -> byte_size(Held) end end)), \
             grown ! {{held, self()}}, receive Bytes when is_integer(Bytes) -> Bytes end"
        ));
        thread::sleep(Duration::from_millis(500));
        planted.call("work", vec![3.into()], LONG).unwrap();
    });
    eval("grown ! stop");
    tree.result
}

#[test]
fn a_node_that_grows_by_itself_is_observed_on() {
    let _alone = tracing_alone();
    let connection = connection();
    let planted = Planted::load(&connection);
    let result = recorded_while_the_node_grows(&planted, 120);
    assert_eq!(result.stopped_by, "cancelled", "{result:?}");
    assert_eq!(result.calls + result.calls_cut, 3, "{result:?}");
    assert_nothing_left();
    let result = recorded_while_the_node_grows(&planted, 600);
    assert_eq!(result.stopped_by, "max_node_growth_bytes", "{result:?}");
    assert_nothing_left();
}
