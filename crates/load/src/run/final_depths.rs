//! Messages that are left in the queues when the run is over. A broker answers the question for them before it has put
//! into the queue what is on its way there, so that messages which are missing may only be late.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::aggregate::Aggregator;

/// How often the depths are read while messages are missing. Chosen.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// What is missing is lost when for this time no queue has grown. Chosen: longer than a broker waits for a slow disk.
const STILL_TIME: Duration = Duration::from_secs(3);

/// Whatever happens, the depths are read no longer. Chosen: as long as answers are awaited.
const LONGEST: Duration = Duration::from_secs(120);

/// Completes the check of all deliveries. As long as it misses messages and queues grow, it waits for them.
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

/// Keeps the greatest depth of each queue: what expires now was not lost in the run. True: one has grown.
fn grow(depths: &mut [Option<u64>], latest: &[Option<u64>]) -> bool {
    let mut has_grown = false;
    for (depth, latest) in depths.iter_mut().zip(latest) {
        // What is unknown once stays unknown: it is not judged.
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
