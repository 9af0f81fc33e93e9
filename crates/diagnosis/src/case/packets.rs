//! The early end of a capture.

/// The early end of a capture. Nothing is known of the time after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptureEnd {
    /// Captured time in seconds.
    pub seconds: f64,
    /// The reason, in words.
    pub reason: String,
}

impl CaptureEnd {
    /// Captured seconds below which packets are not judged: the longest time that a rule about packets asks for.
    pub(crate) const MIN_SECONDS: f64 = 1.0;

    /// Returns whether the captured time is long enough for a judgement. A time that is not a number is not.
    pub(crate) fn is_long_enough(&self) -> bool {
        self.seconds >= Self::MIN_SECONDS
    }
}
