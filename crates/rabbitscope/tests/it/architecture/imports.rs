//! No circle of imports inside a crate: of two files, at most one knows the other.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::CRATES;

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_crate_has_a_circle_of_imports() {
    let circles: Vec<String> = CRATES
        .iter()
        .flat_map(|(name, source)| {
            let circles = circles(&source.imports());
            circles.into_iter().map(move |circle| format!("{name}: {}", circle.join(", ")))
        })
        .collect();
    assert!(circles.is_empty(), "files that import each other:\n{}", circles.join("\n"));
}

/// Returns the sets of nodes that can all reach each other.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|node| (node, reached(graph, node))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for node in graph.keys().filter(|node| reach[node].contains(node)) {
        if !seen.insert(node) {
            continue;
        }
        let others = reach[node].iter().filter(|other| reach[**other].contains(node));
        let circle: Vec<String> = others.map(|other| (*other).clone()).collect();
        seen.extend(graph.keys().filter(|other| circle.contains(other)));
        circles.push(circle);
    }
    circles
}

fn reached<'a>(graph: &'a Graph, from: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = graph[from].iter().collect();
    while let Some(node) = open.pop() {
        if let Some((node, next)) = graph.get_key_value(node)
            && reached.insert(node)
        {
            open.extend(next);
        }
    }
    reached
}

#[test]
fn a_circle_is_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*to).to_owned()).or_default();
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        circles(&graph)
    };
    assert!(graph(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    assert_eq!(graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]), [["a", "b", "c"]]);
    assert_eq!(graph(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]).len(), 2);
}
