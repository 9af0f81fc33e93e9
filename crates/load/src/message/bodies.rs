//! The bodies of a group of publishers, made once before the load.

use rabbitscope_runs::{
    Random,
    scenario::{Body, PublisherGroup},
};
use rabbitscope_timing::Nanos;

use super::{body_files::BodyFiles, json, payload::Step};
use crate::error::LoadError;

/// Reads or makes all bodies, by step of time. Sizes with shares have one step, and equally many bodies each.
pub(super) fn bodies(
    group: &PublisherGroup,
    files: &BodyFiles<'_>,
    random: &mut Random,
) -> Result<Vec<Step<Vec<u8>>>, LoadError> {
    if let Body::Files(names) = group.body() {
        return Ok(vec![(Nanos::MAX, files.read(names, group.packing().items)?)]);
    }
    // Sizes with shares divide the documents among themselves.
    let several = group.size_shares.as_ref().map_or(1, Vec::len);
    let of_each = |documents: u32| documents.div_ceil(u32::try_from(several).unwrap_or(1));
    let mut of_size = |size: u32| match group.body() {
        Body::Json { documents, fields: None } => {
            (0..of_each(documents)).map(|_| json::document(random, size as usize)).collect()
        }
        Body::Json { documents, fields: Some(fields) } => {
            let pool = json::Pool::new(random, fields);
            (0..of_each(documents)).map(|_| pool.document(random, size as usize)).collect()
        }
        _ => vec![vec![0; size as usize]],
    };
    if let Some(shares) = &group.size_shares {
        let bodies = shares.iter().flat_map(|share| of_size(share.size_bytes));
        return Ok(vec![(Nanos::MAX, bodies.collect())]);
    }
    if group.sizes.is_none() {
        return Ok(vec![(Nanos::MAX, of_size(group.size_bytes()))]);
    }
    let mut end = Nanos::ZERO;
    let steps = group.size_steps().iter().map(|step| {
        end += step.lasts.into();
        (end, of_size(step.size_bytes))
    });
    Ok(steps.collect())
}
