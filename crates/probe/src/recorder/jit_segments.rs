//! The memory areas of the node's JIT code.

use crate::{
    beam::CodeMap,
    kernel_interface::{JIT_SEGMENTS, JitCode, Segment},
    node::Mapping,
};

/// The areas of JIT code as whole mappings, so that later code lies within them too.
pub(super) fn jit_code(code: &CodeMap, mappings: &[Mapping]) -> JitCode {
    let mut segments: Vec<Segment> = mappings
        .iter()
        .filter(|mapping| mapping.executable && code.has_code_in(mapping.start..mapping.end))
        .map(|mapping| Segment { start: mapping.start, size: mapping.end - mapping.start })
        .collect();
    merge_down_to(&mut segments, JIT_SEGMENTS);
    let start = segments.first().map_or(0, |segment| segment.start);
    let end = segments.last().map_or(0, |segment| segment.start + segment.size);
    let mut jit = JitCode { envelope: Segment { start, size: end - start }, ..JitCode::default() };
    jit.segments[..segments.len()].copy_from_slice(&segments);
    jit.has_frame_pointers = code.has_frame_pointers().into();
    jit
}

/// Joins the closest neighbours until at most `limit` segments are left. `segments` is in order of address.
fn merge_down_to(segments: &mut Vec<Segment>, limit: usize) {
    while segments.len() > limit {
        let gap = |index: usize| {
            let Segment { start, size } = segments[index];
            segments[index + 1].start - (start + size)
        };
        let closest =
            (0..segments.len() - 1).min_by_key(|&index| gap(index)).expect("at least two");
        let next = segments.remove(closest + 1);
        segments[closest].size = next.start + next.size - segments[closest].start;
    }
}

#[cfg(test)]
mod tests {
    use super::{Segment, merge_down_to};

    fn check(segments: &[(u64, u64)], limit: usize, expected: &[(u64, u64)]) {
        let mut segments: Vec<Segment> =
            segments.iter().map(|&(start, size)| Segment { start, size }).collect();
        merge_down_to(&mut segments, limit);
        let found: Vec<(u64, u64)> =
            segments.iter().map(|segment| (segment.start, segment.size)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_closest_segments_are_joined_first() {
        check(&[(0, 10), (100, 10), (115, 10)], 2, &[(0, 10), (100, 25)]);
        check(&[(0, 10), (100, 10)], 2, &[(0, 10), (100, 10)]);
        check(&[(0, 10), (20, 10), (40, 10)], 1, &[(0, 50)]);
    }
}
