//! Bounds of figures.

/// Most rows of each list.
pub(crate) const MOST_ROWS: usize = 50;

/// Returns a figure that a file can hold.
pub(super) const fn finite(value: f64) -> f64 {
    if value.is_finite() && value > 0.0 { value } else { 0.0 }
}
