//! Figures of consumers, of programs that poll, and of responders.

use super::{
    distance::{block_noise, quantile_noise, rate_noise, share_noise},
    figure::{Difference, Figure, Unit, relative},
    measurements::Reading,
    publishers::{RATE_BAR, inner, members, pooled, speed},
};
use crate::{figures::Sparse, observe::ReadBlock};

/// Bars of the median and of the 99th percentile of times.
const TIMES: [(f64, f64); 2] = [(0.5, 0.05), (0.99, 0.1)];
/// A machine shared with the broker is late by so many nanoseconds.
const LATE: f64 = 1e6;
/// Shortest processing time in nanoseconds that a scenario expresses.
const PROCESSING_MIN: f64 = 1e6;
/// Bar of the mean number of unacknowledged messages of a consumer.
const UNSETTLED_BAR: f64 = 0.1;
/// Bar of the shares of settlements.
const SETTLED_BAR: f64 = 0.02;
/// Bar of the share of messages for which relays publish one.
const FOLLOWED_BAR: f64 = 0.05;

/// Returns the figures of a group in both loads. `has_closed`: the source has closed loops, which may send its messages.
pub(super) fn figures(source: &Reading, run: &Reading, has_closed: bool) -> Vec<Figure> {
    let mut figures = vec![members(source.members, run.members), rate(source, run, has_closed)];
    figures.extend(prefetch(source, run));
    figures.extend(batch(source, run));
    figures.extend(settled(source, run));
    figures.extend(followed(source, run));
    let [processing, acknowledged, asked] = [
        ["processing p50", "processing p99"],
        ["acknowledgement p50", "acknowledgement p99"],
        ["poll-interval p50", "poll-interval p99"],
    ];
    if source.is_polling {
        figures.extend(times(asked, (source, run), |block| &block.polls));
        return figures;
    }
    figures.extend(times(processing, (source, run), |block| &block.service));
    figures.extend(times(acknowledged, (source, run), |block| &block.raw));
    figures.extend(unsettled(source, run));
    figures
}

/// Compares the mean number of messages that a consumer holds. One message more or less depends on the moment.
fn unsettled(source: &Reading, run: &Reading) -> Option<Figure> {
    let held = |blocks: &[ReadBlock]| mean(&pooled(blocks, |block| &block.unsettled));
    let (one, other) = (held(&source.blocks)?, held(&run.blocks)?);
    let by_block: Vec<f64> =
        inner(&source.blocks).iter().filter_map(|block| mean(&block.unsettled)).collect();
    let of = Difference {
        distance: ((one - other).abs() - 1.0).max(0.0) / one,
        bar: UNSETTLED_BAR,
        between_blocks: block_noise(&by_block),
        by_number: 0.0,
        number: source.messages.min(run.messages),
    };
    Some(Figure::new("unacknowledged", Unit::Number, (one, other), of))
}

fn mean(values: &Sparse) -> Option<f64> {
    let total = values.total() as f64;
    let sum: f64 = values
        .filled()
        .map(|(first, last, count)| first.midpoint(last) as f64 * count as f64)
        .sum();
    (total > 0.0 && sum > 0.0).then(|| sum / total)
}

fn rate(source: &Reading, run: &Reading, has_closed: bool) -> Figure {
    let counts: Vec<f64> =
        inner(&source.blocks).iter().map(|block| block.messages as f64).collect();
    if has_closed {
        return speed((source.rate, run.rate), &counts);
    }
    let of = Difference {
        distance: relative(source.rate, run.rate),
        bar: RATE_BAR,
        between_blocks: block_noise(&counts),
        // The messages are those of publishers, whose rates are judged by themselves.
        by_number: if counts.is_empty() {
            rate_noise(1.0, source.messages, run.messages)
        } else {
            0.0
        },
        number: source.messages.min(run.messages),
    };
    Figure::new("rate", Unit::Rate, (source.rate, run.rate), of)
}

fn prefetch(source: &Reading, run: &Reading) -> Option<Figure> {
    let values = (f64::from(source.prefetch?), f64::from(run.prefetch?));
    let exact = Difference::exact(relative(values.0, values.1), 0.0);
    Some(Figure::new("prefetch", Unit::Number, values, exact))
}

fn batch(source: &Reading, run: &Reading) -> Option<Figure> {
    let values = (source.batch? as f64, run.batch.unwrap_or(0) as f64);
    let exact = Difference::exact(relative(values.0, values.1), 0.0);
    Some(Figure::new("settled at once", Unit::Number, values, exact))
}

/// Compares the shares of messages for which relays publish one.
fn followed(source: &Reading, run: &Reading) -> Option<Figure> {
    let number = source.messages.min(run.messages);
    let share = source.followed;
    let of = Difference {
        distance: (share - run.followed).abs(),
        bar: FOLLOWED_BAR,
        between_blocks: 0.0,
        by_number: share_noise(share, source.messages, run.messages),
        number,
    };
    let figure = || Figure::new("forwarded", Unit::Share, (share, run.followed), of);
    source.is_relay.then(figure)
}

fn settled(source: &Reading, run: &Reading) -> Option<Figure> {
    let refused = |settled: [f64; 3]| settled[1] + settled[2];
    let differences =
        source.settled.iter().zip(run.settled).map(|(one, other)| (one - other).abs());
    let most = differences.fold(0.0, f64::max);
    let values = (refused(source.settled), refused(run.settled));
    let is_any = source.settled.iter().chain(&run.settled).any(|share| *share > 0.0);
    is_any
        .then(|| Figure::new("refused", Unit::Share, values, Difference::exact(most, SETTLED_BAR)))
}

/// Compares median and 99th percentile, if a scenario can express such times.
fn times(
    names: [&'static str; 2],
    (source, run): (&Reading, &Reading),
    of: impl Fn(&ReadBlock) -> &Sparse,
) -> Vec<Figure> {
    let (one, other) = (pooled(&source.blocks, &of), pooled(&run.blocks, &of));
    if one.quantile(0.5).is_none_or(|median| median < PROCESSING_MIN) {
        return Vec::new();
    }
    let by_block = [source, run].map(|of_load| of_load.blocks.iter().map(&of).collect::<Vec<_>>());
    let figures = names.into_iter().zip(TIMES);
    figures
        .filter_map(|(name, (share, bar))| time(name, (&one, &other), (share, bar), &by_block))
        .collect()
}

fn time(
    name: &'static str,
    (one, other): (&Sparse, &Sparse),
    (share, bar): (f64, f64),
    by_block: &[Vec<&Sparse>; 2],
) -> Option<Figure> {
    let values = (one.quantile(share)?, other.quantile(share)?);
    let late = (values.0 - values.1).abs() - LATE;
    let noise_of = |blocks: &Vec<&Sparse>| {
        let enough = blocks.iter().filter(|block| block.total() >= 100);
        let values: Vec<f64> = enough.filter_map(|block| block.quantile(share)).collect();
        block_noise(&values)
    };
    // Messages of a queue wait together, so that a few blocks of one load may be alike by luck.
    let [of_source, of_run] = by_block.each_ref().map(noise_of);
    let of = Difference {
        distance: late.max(0.0) / values.0,
        bar,
        between_blocks: of_source.hypot(of_run) / core::f64::consts::SQRT_2,
        by_number: quantile_noise(one, share)?.hypot(quantile_noise(other, share)?),
        number: one.total().min(other.total()),
    };
    Some(Figure::new(name, Unit::Nanos, values, of))
}
