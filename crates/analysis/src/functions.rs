//! Tables of functions: how much weight stands in each, and under each.

use rabbitscope_data::profile::{FrameId, FrameKind, Profile};

/// What one function costs. Weights are in the unit of the profile's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function.
    pub frame: FrameId,
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub kind: FrameKind,
    /// Weight of all stacks that it occurs in, each counted once however deep it recurses.
    pub total: u64,
    /// Weight of all stacks that end in it.
    pub leaf: u64,
    /// For an Erlang function: weight of all stacks whose innermost Erlang frame it is, whatever
    /// native code, kernel code or VM fragment ran on its behalf. For other kinds the same as
    /// [`Self::leaf`].
    pub own: u64,
}

impl FunctionRow {
    /// [`Self::own`] as a share (0 to 1) of `whole`, usually [`Profile::total`].
    pub fn own_share(&self, whole: u64) -> f64 {
        share(self.own, whole)
    }

    /// [`Self::total`] as a share (0 to 1) of `whole`, usually [`Profile::total`].
    pub fn total_share(&self, whole: u64) -> f64 {
        share(self.total, whole)
    }
}

/// `part` of `whole`, 0 to 1; 0 when there is nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Every function of `profile`, the largest own weight first, then the largest total, then by name.
pub fn function_table(_profile: &Profile) -> Vec<FunctionRow> {
    Vec::new()
}

/// The `count` functions of one kind with the largest own weight.
pub fn hottest(profile: &Profile, kind: FrameKind, count: usize) -> Vec<FunctionRow> {
    function_table(profile).into_iter().filter(|row| row.kind == kind).take(count).collect()
}
