//! The plane of a picture: time to the right, bytes upwards, both with their axes.

use std::io::{self, Write};

use rabbitscope_text::grouped;
use rabbitscope_wire::report::TimeSequence;

use crate::{axis::Axis, packets::figures::instant};

const LEFT: f64 = 90.0;
const RIGHT: f64 = 36.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 48.0;

/// Maps times and offsets to places.
pub(super) struct Plane {
    x: Axis,
    y: Axis,
    from_nanos: u64,
    /// Offset at the 0 of the axis of bytes.
    base: u64,
    /// Highest offset in the picture.
    top: u64,
}

impl Plane {
    pub(super) const WIDTH: f64 = 1280.0;
    pub(super) const HEIGHT: f64 = 520.0;

    /// Makes room for all segments. The receiver's room is drawn as far as it does not flatten them.
    pub(super) fn for_sequence(sequence: &TimeSequence) -> Self {
        let (low, high) = ends(sequence);
        let span = (high - low).max(1);
        let rooms = || sequence.windows.iter().filter_map(|point| point.room);
        let above = high.saturating_add(span);
        let is_near = rooms().min().is_some_and(|lowest| lowest <= above);
        let top = rooms().max().filter(|_| is_near).map_or(high, |room| room.clamp(high, above));
        let nanos = sequence.to_nanos.saturating_sub(sequence.from_nanos) as f64;
        let heights = [0.0, (top - low) as f64].into_iter();
        Self {
            x: Axis::between(0.0, nanos, (LEFT, Self::WIDTH - RIGHT)),
            y: Axis::linear(heights, (Self::HEIGHT - BOTTOM, TOP)),
            from_nanos: sequence.from_nanos,
            base: low,
            top,
        }
    }

    pub(super) fn x(&self, nanos: u64) -> f64 {
        self.x.at(nanos.saturating_sub(self.from_nanos) as f64)
    }

    pub(super) fn y(&self, offset: u64) -> f64 {
        self.y.at(offset.saturating_sub(self.base) as f64)
    }

    /// Returns whether an offset lies within the picture.
    pub(super) fn has(&self, offset: u64) -> bool {
        (self.base..=self.top).contains(&offset)
    }

    /// Returns top and bottom of the plane.
    pub(super) fn heights() -> (f64, f64) {
        (TOP, Self::HEIGHT - BOTTOM)
    }

    /// Explains gaps in the line of the receiver's room.
    pub(super) fn room_note(&self, sequence: &TimeSequence) -> Option<&'static str> {
        let rooms = || sequence.windows.iter().filter_map(|point| point.room);
        if sequence.windows.is_empty() {
            None
        } else if rooms().next().is_none() {
            Some("The room of the receiver is unknown: the scale of its windows was not captured.")
        } else if rooms().all(|room| room > self.top) {
            Some("The receiver always had room beyond the top of the picture.")
        } else if rooms().any(|room| room > self.top) {
            Some("Where its line is missing, the receiver had room beyond the top of the picture.")
        } else {
            None
        }
    }

    /// Draws lines at round values, and the titles of the axes.
    pub(super) fn grid(&self, out: &mut dyn Write) -> io::Result<()> {
        let (top, bottom) = Self::heights();
        let right = Self::WIDTH - RIGHT;
        let ticks: Vec<f64> =
            self.y.binary_ticks().into_iter().filter(|tick| *tick >= 0.0).collect();
        for (tick, words) in ticks.iter().zip(in_unit_of_step(&ticks, &BYTES)) {
            let y = self.y.at(*tick);
            writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{words}</text>",
                LEFT - 8.0,
                y + 4.0
            )?;
        }
        let ticks = self.x.ticks();
        for (tick, words) in ticks.iter().zip(in_unit_of_step(&ticks, &TIMES)) {
            let x = self.x.at(*tick);
            writeln!(
                out,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{words}</text>",
                bottom + 18.0
            )?;
        }
        self.titles(out)
    }

    fn titles(&self, out: &mut dyn Write) -> io::Result<()> {
        let (top, bottom) = Self::heights();
        let (x, y) = (f64::midpoint(LEFT, Self::WIDTH - RIGHT), f64::midpoint(top, bottom));
        writeln!(
            out,
            "<text x=\"{x:.0}\" y=\"{}\" text-anchor=\"middle\">time since {} after the first packet</text>\
             <text transform=\"translate(14 {y:.0}) rotate(-90)\" text-anchor=\"middle\">place in the stream, from byte \
             {}</text>",
            bottom + 40.0,
            instant(self.from_nanos),
            grouped(self.base)
        )
    }
}

/// Returns the first and last drawn offset. Acknowledgements from far below would flatten the segments.
fn ends(sequence: &TimeSequence) -> (u64, u64) {
    let acknowledged = || sequence.windows.iter().map(|point| point.acknowledged);
    let segments = &sequence.segments;
    let last = segments.iter().map(|segment| segment.offset.saturating_add(segment.length)).max();
    let Some((low, high)) = segments.iter().map(|segment| segment.offset).min().zip(last) else {
        return (acknowledged().min().unwrap_or(0), acknowledged().max().unwrap_or(0));
    };
    let lowest = low.saturating_sub(high - low);
    (
        acknowledged()
            .min()
            .map_or(low, |lowest_acknowledged| lowest_acknowledged.clamp(lowest, low)),
        high,
    )
}

const TIMES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const BYTES: [(f64, &str); 4] =
    [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];

/// Writes ticks in the largest unit that is not above their step: `0`, `64 KiB`, `1,280 KiB`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ticks are whole units"
)]
fn in_unit_of_step(ticks: &[f64], units: &[(f64, &str)]) -> Vec<String> {
    let step = ticks.windows(2).next().map_or(1.0, |pair| pair[1] - pair[0]);
    let found = units.iter().find(|(size, _)| step >= 0.999 * size);
    let (size, unit) = *found.unwrap_or(&units[units.len() - 1]);
    let words = |tick: &f64| match (tick / size).round() as u64 {
        0 => "0".to_owned(),
        number => format!("{} {unit}", grouped(number)),
    };
    ticks.iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_unit_of_their_step() {
        fn check(ticks: &[f64], units: &[(f64, &str)], expected: &[&str]) {
            assert_eq!(in_unit_of_step(ticks, units), expected);
        }
        check(&[0.0, 5e5, 1e6], &TIMES, &["0", "500 µs", "1,000 µs"]);
        check(&[0.0, 2e9], &TIMES, &["0", "2 s"]);
        check(&[0.0, 65_536.0, 131_072.0], &BYTES, &["0", "64 KiB", "128 KiB"]);
        check(&[0.0], &BYTES, &["0"]);
    }
}
