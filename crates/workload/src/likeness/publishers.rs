//! Figures of publishers and callers.

use super::{
    distance::{self, block_noise},
    figure::{Difference, Figure, Unit, relative},
    measurements::Publishing,
};
use crate::{figures::Sparse, observe::PublishBlock};

/// Bar of the rate.
pub(super) const RATE_BAR: f64 = 0.03;
/// Bar of the distance of sizes.
const SIZE_BAR: f64 = 0.05;
/// Bar of the distance of the shares of keys, by rank.
const KEYS_BAR: f64 = 0.05;
/// Bar of the share of messages with other properties.
const PROPERTIES_BAR: f64 = 0.05;
/// Bar of the distance of gaps: runs of one scenario differ by up to 0.09.
const GAP_BAR: f64 = 0.1;
/// Gaps are equal within so many nanoseconds, the step of the load generator on a shared machine, or this part of them.
const GAP_STEP: f64 = 1e6;
const GAP_PART: f64 = 0.05;
/// Bar of the evenness of counts.
const COUNTS_BAR: f64 = 0.25;
/// Messages up to which noise by their number does not matter: the ends of the observed time cut one off.
const ENDS: f64 = 2.0;

/// Returns the figures of a group in both loads.
pub(super) fn figures(source: &Publishing, run: &Publishing) -> Vec<Figure> {
    let mut figures =
        vec![members(source.members, run.members), rate(source, run), sizes(source, run)];
    figures.extend(keys(source, run));
    figures.extend(properties(source, run));
    figures.extend(gaps(source, run));
    if !source.is_closed {
        figures.extend((0..3).filter_map(|width| counts(source, run, width)));
    }
    figures.extend(window(source, run));
    figures
}

pub(super) fn members(source: usize, run: usize) -> Figure {
    let values = (source as f64, run as f64);
    let exact = Difference::exact(relative(values.0, values.1), 0.0);
    Figure::new("members", Unit::Number, values, exact)
}

fn rate(source: &Publishing, run: &Publishing) -> Figure {
    let inner = inner(&source.blocks);
    let counts: Vec<f64> = inner.iter().map(|block| block.messages as f64).collect();
    if source.is_closed {
        return speed((source.rate, run.rate), &counts);
    }
    let index = distance::dispersion(source.blocks.iter().map(|block| block.counts[2]))
        .or_else(|| distance::dispersion(source.blocks.iter().map(|block| block.counts[1])));
    let number = source.messages.min(run.messages);
    let ends = ENDS / number.max(1) as f64;
    let of = Difference {
        distance: relative(source.rate, run.rate),
        bar: RATE_BAR,
        between_blocks: if source.has_bursts { 0.0 } else { block_noise(&counts) },
        by_number: match index {
            _ if source.has_bursts => 0.0,
            Some((index, _)) => {
                distance::rate_noise(index, source.messages, run.messages).max(ends)
            }
            None => distance::rate_noise(1.0, source.messages, run.messages),
        },
        number,
    };
    Figure::new("rate", Unit::Rate, (source.rate, run.rate), of)
}

/// Compares rates that are as high as broker and machine permit. `counts` are the messages in blocks of the source.
pub(super) fn speed(rates: (f64, f64), counts: &[f64]) -> Figure {
    let of = Difference::between_runs(relative(rates.0, rates.1), block_noise(counts));
    Figure::new("rate", Unit::Rate, rates, of)
}

/// Returns the blocks that the whole group was active in: all but the first and the last one.
pub(super) fn inner<T>(blocks: &[T]) -> &[T] {
    match blocks {
        [_, inner @ .., _] if inner.len() >= 3 => inner,
        _ => &[],
    }
}

fn sizes(source: &Publishing, run: &Publishing) -> Figure {
    let distance = match (&source.sizes, &run.sizes) {
        (Some(one), Some(other)) => distance::exact(one, other),
        _ => distance::tolerant(
            &pooled(&source.blocks, |block| &block.sizes),
            &pooled(&run.blocks, |block| &block.sizes),
            |_| 0.0,
        ),
    };
    let number = source.messages.min(run.messages);
    // One size has no distribution.
    let is_single = source.sizes.as_ref().is_some_and(|sizes| sizes.len() == 1);
    let by_number =
        if is_single { 0.0 } else { distance::kolmogorov_noise(source.messages, run.messages) };
    let between_blocks = halves(&source.blocks, |block| &block.sizes, |_| 0.0);
    let of = Difference { distance, bar: SIZE_BAR, between_blocks, by_number, number };
    let means = (mean(source), mean(run));
    Figure::new("sizes", Unit::Bytes, means, of)
}

/// Compares the shares of queues or routing keys by their rank, and shows those of the most frequent ones.
fn keys(source: &Publishing, run: &Publishing) -> Option<Figure> {
    let total = |of: &Publishing| of.keys.values().map(|count| *count as f64).sum::<f64>();
    if source.keys.len() < 2 || total(run) <= 0.0 {
        return None;
    }
    let of = Difference {
        distance: distance::exact(&source.keys, &run.keys),
        bar: KEYS_BAR,
        between_blocks: 0.0,
        by_number: distance::kolmogorov_noise(source.messages, run.messages),
        number: source.messages.min(run.messages),
    };
    let most = |of: &Publishing| of.keys.get(&1).map_or(0.0, |count| *count as f64 / total(of));
    Some(Figure::new("keys", Unit::Share, (most(source), most(run)), of))
}

/// Compares delivery modes, priorities and times to live, and shows the share of the source's most frequent kind.
fn properties(source: &Publishing, run: &Publishing) -> Option<Figure> {
    let (one, other) = (&source.properties, &run.properties);
    let (most, _) = one.iter().max_by_key(|(_, messages)| **messages)?;
    if other.is_empty() {
        return None;
    }
    let of = Difference {
        distance: distance::of_kinds(one, other),
        bar: PROPERTIES_BAR,
        between_blocks: 0.0,
        by_number: distance::kinds_noise(one, source.messages, run.messages),
        number: source.messages.min(run.messages),
    };
    let shares = (distance::share_of(one, most), distance::share_of(other, most));
    Some(Figure::new("properties", Unit::Share, shares, of))
}

/// Returns the mean size, from exact sizes if they are known.
fn mean(of: &Publishing) -> f64 {
    if let Some(sizes) = &of.sizes {
        let sum: f64 = sizes.iter().map(|(size, count)| *size as f64 * *count as f64).sum();
        return sum / sizes.values().map(|count| *count as f64).sum::<f64>().max(1.0);
    }
    let sizes = pooled(&of.blocks, |block| &block.sizes);
    let sum: f64 =
        sizes.filled().map(|(first, last, count)| first.midpoint(last) as f64 * count as f64).sum();
    sum / sizes.total().max(1) as f64
}

fn gaps(source: &Publishing, run: &Publishing) -> Option<Figure> {
    let close = |value: f64| (GAP_PART * value).max(GAP_STEP);
    let (one, other) =
        (pooled(&source.blocks, |block| &block.gaps), pooled(&run.blocks, |block| &block.gaps));
    let of = Difference {
        distance: distance::tolerant(&one, &other, close),
        bar: GAP_BAR,
        between_blocks: halves(&source.blocks, |block| &block.gaps, close),
        by_number: distance::kolmogorov_noise(one.total(), other.total()),
        number: one.total().min(other.total()),
    };
    let medians = (one.quantile(0.5)?, other.quantile(0.5)?);
    Some(Figure::new("gaps", Unit::Nanos, medians, of))
}

/// Compares how even the counts in windows are. The index of dispersion is 0 for a timer, 1 for independent messages.
fn counts(source: &Publishing, run: &Publishing, width: usize) -> Option<Figure> {
    let tallies = |blocks: &[PublishBlock]| {
        distance::dispersion(blocks.iter().map(|block| block.counts[width]))
    };
    let ((one, windows), (other, others)) = (tallies(&source.blocks)?, tallies(&run.blocks)?);
    let by_block = source.blocks.iter().filter_map(|block| {
        distance::dispersion([block.counts[width]].into_iter()).map(|(index, _)| 1.0 + index)
    });
    let by_block: Vec<f64> = by_block.collect();
    let share = windows.min(others) / windows.max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    let number = (source.messages as f64 * share) as u64;
    let of = Difference {
        distance: relative(1.0 + one, 1.0 + other),
        bar: COUNTS_BAR,
        between_blocks: block_noise(&by_block),
        by_number: distance::dispersion_noise((one, windows), (other, others)),
        number,
    };
    let name = ["counts per 10 ms", "counts per 100 ms", "counts per 1 s"][width];
    Some(Figure::new(name, Unit::Number, (one, other), of))
}

fn window(source: &Publishing, run: &Publishing) -> Option<Figure> {
    let window = source.window?;
    let found = run.window.unwrap_or(0);
    let values = (f64::from(window), f64::from(found));
    let exact = Difference::exact(relative(values.0, values.1), 0.0);
    Some(Figure::new("confirm-window", Unit::Number, values, exact))
}

/// Returns the values of all blocks.
pub(super) fn pooled<'a, T>(blocks: &'a [T], of: impl Fn(&'a T) -> &'a Sparse) -> Sparse {
    let mut pooled = Sparse::default();
    for block in blocks {
        pooled.merge(of(block));
    }
    pooled
}

/// Returns the larger distance of two halves of the source: first and second, even and odd blocks. Halves have half the
/// values, so that their distance is larger by the square root of 2.
fn halves(
    blocks: &[PublishBlock],
    of: impl Fn(&PublishBlock) -> &Sparse,
    tolerance: impl Fn(f64) -> f64,
) -> f64 {
    let distance = |is_first: &dyn Fn(usize) -> bool| {
        let (mut one, mut other) = (Sparse::default(), Sparse::default());
        for (number, block) in blocks.iter().enumerate() {
            if is_first(number) { &mut one } else { &mut other }.merge(of(block));
        }
        let is_enough = one.total() > 0 && other.total() > 0;
        if is_enough { distance::tolerant(&one, &other, &tolerance) } else { 0.0 }
    };
    let middle = blocks.len() / 2;
    let most = distance(&|number| number < middle).max(distance(&|number| number % 2 == 0));
    most / core::f64::consts::SQRT_2
}
