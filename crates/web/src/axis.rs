//! Mapping of values to places on a drawing, with readable ticks.

/// Maps values to places, linearly or by their logarithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_log: bool,
}

/// Approximate number of ticks of an axis.
const TICKS: f64 = 6.0;

impl Axis {
    /// Creates an axis around the values, with some room at both ends; `from` and `to` are places.
    pub(crate) fn linear(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let (low, high) = ends(values);
        let room = ((high - low) * 0.06).max(high.abs() * 1e-3).max(1e-12);
        Self { low: low - room, high: high + room, from, to, is_log: false }
    }

    /// Creates an axis like [`Self::linear`], for logarithms. Values must be positive.
    pub(crate) fn log(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let Self { low, high, .. } = Self::linear(values.map(f64::ln), (from, to));
        Self { low, high, from, to, is_log: true }
    }

    /// Creates an axis from `low` to `high` exactly.
    pub(crate) fn between(low: f64, high: f64, (from, to): (f64, f64)) -> Self {
        Self { low, high: high.max(low + 1e-12 + low.abs() * 1e-12), from, to, is_log: false }
    }

    /// Returns the place of a value, within the drawing.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if self.is_log { value.ln() } else { value };
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Returns multiples of a power of two within the axis, for bytes.
    pub(crate) fn binary_ticks(&self) -> Vec<f64> {
        let rough = ((self.high - self.low) / TICKS).max(1.0);
        multiples(2_f64.powf(rough.log2().ceil()), (self.low, self.high))
    }

    /// Returns round values within the axis.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let ends =
            if self.is_log { (self.low.exp(), self.high.exp()) } else { (self.low, self.high) };
        if self.is_log && ends.1 / ends.0 > 20.0 { decades(ends) } else { even(ends) }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values.filter(|value| value.is_finite()).fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    });
    ends.unwrap_or((0.0, 1.0))
}

/// Returns ticks in steps of 1, 2 or 5 times a power of ten.
fn even((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| *step >= rough).unwrap_or(power);
    multiples(step, (low, high))
}

fn multiples(step: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut tick = (low / step).ceil() * step;
    let mut ticks = Vec::new();
    while tick <= high && ticks.len() < 20 {
        ticks.push(tick);
        tick += step;
    }
    ticks
}

fn decades((low, high): (f64, f64)) -> Vec<f64> {
    let mut tick = 10_f64.powf(low.log10().ceil());
    let mut ticks = Vec::new();
    while tick <= high && ticks.len() < 20 {
        ticks.push(tick);
        tick *= 10.0;
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::Axis;

    #[test]
    fn values_lie_between_the_ends() {
        let axis = Axis::linear([0.0, 100.0].into_iter(), (0.0, 1000.0));
        assert!(
            axis.at(0.0) > 0.0 && axis.at(100.0) < 1000.0 && (axis.at(50.0) - 500.0).abs() < 1e-9
        );
        assert_eq!(axis.ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        let log = Axis::log([1.0, 1000.0].into_iter(), (1000.0, 0.0));
        assert_eq!(log.ticks().len(), 4);
        assert!(log.at(1.0) > log.at(10.0) && log.at(10.0) > log.at(1000.0));
        let one = Axis::linear([5.0].into_iter(), (0.0, 10.0));
        assert!((one.at(5.0) - 5.0).abs() < 1e-9);
        assert!(Axis::linear(std::iter::empty(), (0.0, 1.0)).at(3.0).is_finite());
    }

    #[test]
    fn ends_are_exact_and_bytes_have_binary_steps() {
        let axis = Axis::between(0.0, 300_000.0, (0.0, 10.0));
        assert!(axis.at(0.0).abs() < 1e-9 && (axis.at(300_000.0) - 10.0).abs() < 1e-9);
        assert_eq!(axis.binary_ticks(), [0.0, 65_536.0, 131_072.0, 196_608.0, 262_144.0]);
        assert_eq!(Axis::between(0.0, 2.0, (0.0, 1.0)).binary_ticks(), [0.0, 1.0, 2.0]);
        for low in [7.0, 1e19] {
            assert!(Axis::between(low, low, (0.0, 1.0)).at(low).is_finite());
        }
    }
}
