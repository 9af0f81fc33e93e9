//! Tables of functions: number of calls, time per function, and the division of that time.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use rabbitscope_erlang::probes::{CallTree, Counters, FunctionName, NodeKey, TreeNode};
use serde::Serialize;

/// A row of a function. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FunctionLine {
    /// `module:name/arity`.
    pub function: String,
    /// Number of calls.
    pub calls: u64,
    /// Time running in the function itself.
    pub own_us: f64,
    /// Share of all own time, 0 to 1.
    pub own_share: f64,
    /// Own time per call.
    pub own_us_per_call: f64,
    /// Time from call to return, with callees. Inner calls of a recursion do not count again. Absent, like the fields
    /// below, if only counters were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulated_us: Option<f64>,
    /// Time waiting for messages in the function itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_us: Option<f64>,
    /// Time runnable but not scheduled, in the function itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runnable_us: Option<f64>,
    /// Time of garbage collections in the function itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc_us: Option<f64>,
}

#[derive(Default)]
struct Sums {
    calls: u64,
    own: Duration,
    wait: Duration,
    runnable: Duration,
    gc: Duration,
    accumulated: Duration,
}

/// Returns the functions of a call tree, those with most own time first.
pub fn function_table(tree: &CallTree) -> Vec<FunctionLine> {
    let totals = totals(&tree.nodes);
    let by_id: HashMap<u64, &TreeNode> = tree.nodes.iter().map(|node| (node.id, node)).collect();
    let mut sums: BTreeMap<&FunctionName, Sums> = BTreeMap::new();
    for node in &tree.nodes {
        let Some(function) = function_of(node) else { continue };
        let sum = sums.entry(function).or_default();
        sum.own += node.run;
        sum.wait += node.wait;
        sum.runnable += node.runnable;
        sum.gc += node.gc;
        let inside_itself = above(node, &by_id).any(|upper| function_of(upper) == Some(function));
        if !inside_itself {
            sum.accumulated += totals[&node.id];
        }
        if matches!(node.key, NodeKey::Function(_)) {
            sum.calls += node.calls;
        }
    }
    finished(sums.into_iter().map(|(name, sum)| line_of(name, &sum, true)).collect())
}

/// Returns the functions of counters, those with most own time first.
pub fn counted_table(counters: &Counters) -> Vec<FunctionLine> {
    let line = |counted: &rabbitscope_erlang::probes::CountedFunction| {
        let sum = Sums { calls: counted.calls, own: counted.own, ..Sums::default() };
        line_of(&counted.function, &sum, false)
    };
    finished(counters.functions.iter().map(line).collect())
}

fn function_of(node: &TreeNode) -> Option<&FunctionName> {
    match &node.key {
        NodeKey::Function(function) | NodeKey::Off(Some(function)) => Some(function),
        NodeKey::Process(..) | NodeKey::Off(None) => None,
    }
}

fn above<'a>(
    node: &TreeNode,
    by_id: &HashMap<u64, &'a TreeNode>,
) -> impl Iterator<Item = &'a TreeNode> {
    let first = by_id.get(&node.parent).copied();
    std::iter::successors(first, |upper| by_id.get(&upper.parent).copied())
}

/// Returns the time of each node with everything below it. Parents stand before their children.
fn totals(nodes: &[TreeNode]) -> HashMap<u64, Duration> {
    let mut totals: HashMap<u64, Duration> = HashMap::with_capacity(nodes.len());
    for node in nodes.iter().rev() {
        let own = node.run + node.wait + node.runnable + node.gc;
        let total = totals.entry(node.id).or_default();
        *total += own;
        let total = *total;
        *totals.entry(node.parent).or_default() += total;
    }
    totals
}

fn line_of(name: &FunctionName, sum: &Sums, is_traced: bool) -> FunctionLine {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let traced = |time| is_traced.then(|| micros(time));
    FunctionLine {
        function: name.to_string(),
        calls: sum.calls,
        own_us: micros(sum.own),
        own_share: 0.0,
        own_us_per_call: micros(sum.own) / sum.calls.max(1) as f64,
        accumulated_us: traced(sum.accumulated),
        wait_us: traced(sum.wait),
        runnable_us: traced(sum.runnable),
        gc_us: traced(sum.gc),
    }
}

fn finished(mut lines: Vec<FunctionLine>) -> Vec<FunctionLine> {
    let whole: f64 = lines.iter().map(|line| line.own_us).sum();
    for line in &mut lines {
        line.own_share = if whole > 0.0 { line.own_us / whole } else { 0.0 };
    }
    lines.sort_by(|left, right| {
        right.own_us.total_cmp(&left.own_us).then_with(|| left.function.cmp(&right.function))
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u64, parent: u64, name: &str, calls: u64, run: u64, wait: u64) -> TreeNode {
        let function = FunctionName { module: "m".to_owned(), name: name.to_owned(), arity: 1 };
        TreeNode {
            id,
            parent,
            key: NodeKey::Function(function),
            calls,
            run: Duration::from_micros(run),
            wait: Duration::from_micros(wait),
            runnable: Duration::ZERO,
            gc: Duration::ZERO,
        }
    }

    #[track_caller]
    fn check(
        table: &[FunctionLine],
        name: &str,
        calls: u64,
        own: f64,
        accumulated: f64,
        wait: f64,
    ) {
        let line = table.iter().find(|line| line.function == name).unwrap();
        let times = [line.own_us, line.accumulated_us.unwrap(), line.wait_us.unwrap()];
        assert_eq!(line.calls, calls);
        for (time, expected) in times.into_iter().zip([own, accumulated, wait]) {
            assert!((time - expected).abs() < 1e-6, "{times:?}");
        }
    }

    #[test]
    fn recursion_counts_once() {
        let nodes =
            vec![node(1, 0, "f", 1, 10, 0), node(2, 1, "g", 2, 5, 100), node(3, 2, "f", 4, 20, 0)];
        let table = function_table(&CallTree { nodes, ..CallTree::default() });
        check(&table, "m:f/1", 5, 30.0, 135.0, 0.0);
        check(&table, "m:g/1", 2, 5.0, 125.0, 100.0);
        assert_eq!(table[0].function, "m:f/1");
        assert!((table[0].own_share - 30.0 / 35.0).abs() < 1e-9);
    }
}
