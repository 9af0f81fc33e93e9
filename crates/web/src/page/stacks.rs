//! A stack tree as columns of the page, with functions numbered by their frequency.

use std::cmp::Reverse;

use rabbitscope_analysis::{NodeId, StackTree};
use rabbitscope_profiles::{FrameClass, FrameId, FrameTable};

use crate::page::columns::{Columns, layout::CODES};

/// The page's numbers of functions. The function of most nodes has number 0, so that most numbers need one byte.
pub(crate) struct FrameNumbers {
    /// Number of each frame.
    numbers: Vec<u32>,
    /// Frame of each number.
    order: Vec<FrameId>,
}

impl FrameNumbers {
    pub(crate) fn new(tree: &StackTree, frames: &FrameTable) -> Self {
        let mut counts = vec![0_u32; frames.len()];
        for node in &tree.nodes {
            counts[node.frame.0 as usize] += 1;
        }
        let mut order: Vec<FrameId> = frames.iter().map(|(id, _)| id).collect();
        order.sort_by_key(|id| Reverse(counts[id.0 as usize]));
        let mut numbers = vec![0; frames.len()];
        for (number, id) in (0..).zip(&order) {
            numbers[id.0 as usize] = number;
        }
        Self { numbers, order }
    }

    /// Returns the number of a frame.
    pub(crate) fn of(&self, frame: FrameId) -> u32 {
        self.numbers[frame.0 as usize]
    }
}

/// Returns the page's number of a class.
fn number_of(class: FrameClass) -> u8 {
    position(&FrameClass::ALL, &class)
}

fn position<T: PartialEq>(all: &[T], one: &T) -> u8 {
    let found = all.iter().position(|listed| listed == one).expect("all values are listed");
    u8::try_from(found).expect("fewer than 256 values are listed")
}

impl Columns {
    /// Returns the columns of a tree, without records and sides. Runs of different length are different nodes, so that
    /// the page can show recursion folded or open.
    pub(crate) fn from_tree(tree: &StackTree, frames: &FrameTable, numbers: &FrameNumbers) -> Self {
        let in_order = || numbers.order.iter().map(|id| frames.get(*id));
        let mut columns = Self {
            names: in_order().map(|frame| frame.name.clone()).collect(),
            classes: in_order().map(|frame| number_of(FrameClass::of(frame))).collect(),
            codes: in_order().map(|frame| position(&CODES, &frame.kind)).collect(),
            ..Self::default()
        };
        let mut depth = 0;
        let classes = tree.classes(frames);
        for ((NodeId(id), node), class) in (0..).map(NodeId).zip(&tree.nodes).zip(classes) {
            let frame = numbers.of(node.frame);
            columns.frames.push(frame);
            columns.climbs.push(depth - node.depth);
            columns.self_weights.push(node.self_weight);
            if node.repeat > 1 {
                columns.runs.push((id, node.repeat));
            }
            let class = number_of(class);
            if class != columns.classes[frame as usize] {
                columns.places.push((id, class));
            }
            depth = node.depth + 1;
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_analysis::Recursion;
    use rabbitscope_profiles::read_folded;

    use super::*;

    #[test]
    fn a_tree_becomes_columns() {
        let folded = "scheduler;m:f/1;m:f/1;erts_garbage_collect;g 5\n\
                      scheduler;m:f/1;h_[k] 2\naux;g 1";
        let profile = read_folded(folded.as_bytes()).unwrap();
        let tree = StackTree::build(&profile, Recursion::ByLength);
        let numbers = FrameNumbers::new(&tree, &profile.frames);
        let columns = Columns::from_tree(&tree, &profile.frames, &numbers);
        // The functions of two nodes stand before those of one.
        assert_eq!(columns.names, ["m:f/1", "g", "scheduler", "erts_garbage_collect", "h", "aux"]);
        assert_eq!(columns.classes, [1, 4, 0, 6, 5, 0]);
        assert_eq!(columns.codes, [1, 4, 0, 4, 5, 0]);
        assert_eq!(columns.frames, [2, 0, 3, 1, 0, 4, 5, 1]);
        assert_eq!(columns.climbs, [0, 0, 0, 0, 3, 0, 3, 0]);
        assert_eq!(columns.self_weights, [0, 0, 0, 5, 0, 2, 0, 1]);
        assert_eq!(columns.runs, [(1, 2)]);
        // Only the `g` that the collector calls.
        assert_eq!(columns.places, [(3, 6)]);
    }
}
