//! The discovery on altered memory, for the fuzz target.

use super::image::{Image, Plan};
use crate::beam::layout::{Layout, known::OTP_27};

/// Words that are altered at most.
const MAX_CHANGES: usize = 64;

/// Builds the memory of a VM, overwrites words of it, and looks for its layout: it is the one of before or refused.
/// The first byte chooses the VM; each twelve bytes after it are a place and a value.
///
/// # Panics
///
/// When stacks would be read in another way than they are laid out.
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
        let (at, value) = change.split_first_chunk::<4>().expect("twelve bytes");
        let at = u32::from_le_bytes(*at) as usize % places.len();
        image.set(places[at], u64::from_le_bytes(*value.first_chunk().expect("eight are left")));
    }
    if let Ok(found) = image.discovered() {
        let of_stacks = |it: Layout| [it.registers, it.id, it.htop, it.stop, it.hend];
        assert_eq!(of_stacks(found.layout), of_stacks(layout));
    }
}
