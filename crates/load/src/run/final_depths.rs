//! Depths of the queues after the run. A broker may report a depth before messages on their way have entered the queue.
//! Messages that seem to be missing may therefore only be late.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_measurements::Aggregator;

/// Interval at which the depths are read while messages are missing. Chosen.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Time without growth of any queue after which missing messages count as lost. Chosen: longer than a broker waits for
/// a slow disk.
const STILL_TIME: Duration = Duration::from_secs(3);

/// Longest time for which the depths are read. Chosen: as long as answers are awaited.
const LONGEST: Duration = Duration::from_secs(120);

/// Completes the check of all deliveries. While messages are missing and queues grow, it waits for them.
pub(super) fn verify(
    aggregator: &mut Aggregator,
    read: impl Fn(&[String]) -> Vec<Option<u64>>,
    stop: &AtomicBool,
) {
    let Some(queues) = aggregator.verified_queues() else { return };
    let mut depths = read(&queues);
    let (began, mut grown_at) = (Instant::now(), Instant::now());
    while aggregator.verify(&depths) > 0
        && grown_at.elapsed() < STILL_TIME
        && began.elapsed() < LONGEST
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(POLL_INTERVAL);
        if grow(&mut depths, &read(&queues)) {
            grown_at = Instant::now();
        }
    }
}

/// Keeps the greatest depth of each queue: a message that expires now was not lost in the run. Returns true if a queue
/// has grown.
fn grow(depths: &mut [Option<u64>], latest: &[Option<u64>]) -> bool {
    let mut has_grown = false;
    for (depth, latest) in depths.iter_mut().zip(latest) {
        // A depth that is unknown once stays unknown, and the queue is not judged.
        if let (Some(depth), Some(latest)) = (depth, latest)
            && latest > depth
        {
            *depth = *latest;
            has_grown = true;
        }
    }
    has_grown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_depth_of_each_queue_counts() {
        let mut depths = [Some(5), Some(7), None, Some(1)];
        assert!(grow(&mut depths, &[Some(6), Some(3), Some(9), None]));
        assert_eq!(depths, [Some(6), Some(7), None, Some(1)]);
        assert!(!grow(&mut depths, &[Some(6), Some(7), None, Some(0)]));
    }
}
