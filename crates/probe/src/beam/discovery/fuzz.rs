//! Runs the discovery on altered memory, for the fuzz target.

use super::image::{Image, Plan};
use crate::beam::layout::{Layout, known::OTP_27};

/// Limit of altered words.
const MAX_CHANGES: usize = 64;

/// Builds the memory of a VM, overwrites some words and discovers the layout: it is the original one or refused.
/// The first byte chooses the VM; each following group of twelve bytes is a place and a value.
///
/// # Panics
///
/// If the found layout would read stacks wrongly.
pub(crate) fn altered_memory(bytes: &[u8]) {
    let Some((&choice, changes)) = bytes.split_first() else { return };
    let layout = OTP_27;
    let plan = Plan {
        layout,
        counts: [1 + u64::from(choice & 3), 1, 3],
        processes: 24,
        has_place_within: choice & 4 == 0,
        is_busy: choice & 8 == 0,
    };
    let mut image = Image::build(&plan);
    let places = image.places();
    for change in changes.as_chunks::<12>().0.iter().take(MAX_CHANGES) {
        let (place, value) = change.split_first_chunk::<4>().expect("twelve bytes");
        let place = u32::from_le_bytes(*place) as usize % places.len();
        image.set(places[place], u64::from_le_bytes(*value.first_chunk().expect("eight are left")));
    }
    if let Ok(found) = image.discovered() {
        let of_stacks = |layout: Layout| {
            let Layout { registers, id, htop, stop, hend, .. } = layout;
            [registers, id, htop, stop, hend]
        };
        assert_eq!(of_stacks(found.layout), of_stacks(layout));
    }
}
