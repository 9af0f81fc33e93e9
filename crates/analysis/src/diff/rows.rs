//! Functions of a profile, by the frames of a comparison.

use std::collections::HashMap;

use rabbitscope_profiles::{Frame, FrameId, FrameTable, Profile};

use crate::{FunctionRow, function_table};

/// Own and total weight of each function.
pub(super) fn rows_by_frame(
    profile: &Profile,
    frames: &mut FrameTable,
) -> HashMap<FrameId, (u64, u64)> {
    let rows = function_table(profile).into_iter();
    rows.map(|FunctionRow { name, kind, own, total, .. }| {
        (frames.intern(Frame { name, kind }), (own, total))
    })
    .collect()
}
