//! Intervals of the observation. They bound its costs, which `docs/measurements/inside.md` has.

use std::time::Duration;

/// Interval of ticks, of figures from inside the node and of readings of `/proc`.
pub(super) const SECOND: Duration = Duration::from_secs(1);

/// Length of a window of the profile.
pub(super) const WINDOW: Duration = Duration::from_secs(2);

/// Samples per second on each CPU.
pub(super) const FREQUENCY_HZ: u32 = 99;

/// Duration of a look. The node writes rates of queues and channels every 5 s, so that a shorter one has none.
pub(super) const LOOK: Duration = Duration::from_secs(10);

/// Pause between two looks.
pub(super) const PAUSE: Duration = Duration::from_secs(20);

/// Time without a viewer after which the observation ends. A page that is loaded again does not begin a new one.
pub(super) const UNWATCHED: Duration = Duration::from_secs(5);

/// Time in which a node of the same name counts as the node that returned.
pub(super) const ABSENCE: Duration = Duration::from_secs(300);

/// Interval at which threads look for the end.
pub(super) const STEP: Duration = Duration::from_millis(100);
