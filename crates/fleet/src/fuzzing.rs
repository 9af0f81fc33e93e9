//! Entry points for the fuzz targets, which cannot call private functions. Compiled for fuzzing only.

use std::fmt::Debug;

use rabbitscope_measurements::PartSize;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    clocks::{ClockEstimate, Exchange},
    protocol::{LogRecord, ToController, ToWorker},
};

/// Checks that a message or record of the log that can be read is the same after it is written and read again.
pub fn fleet_message(bytes: &[u8]) {
    match again::<ToController>(bytes) {
        Some(ToController::Hello(hello)) => {
            let size = hello.state.ready(hello.state.run().unwrap_or_default());
            size.filter(PartSize::is_possible).map(|size| size.threads());
        }
        Some(ToController::Pong(pong)) => {
            let exchange = Exchange {
                sent_nanos: pong.sent_nanos,
                received_nanos: pong.received_nanos,
                answered_nanos: pong.answered_nanos,
                returned_nanos: u64::from(pong.number),
            };
            let estimate =
                ClockEstimate::from_exchanges(&[exchange]).expect("there is an exchange");
            estimate.theirs(pong.sent_nanos);
            estimate.drift_since(ClockEstimate { offset_nanos: i64::MIN, ..estimate });
        }
        None => {}
    }
    if let Ok(message) = serde_json::from_slice::<ToWorker>(bytes) {
        let text = serde_json::to_vec(&message).expect("texts and numbers are JSON");
        assert!(serde_json::from_slice::<ToWorker>(&text).is_ok_and(|again| again == message));
    }
    if let Some(record) = LogRecord::decode(bytes) {
        // The declared topology is any JSON, whose fractions may lose their last digit.
        assert!(LogRecord::decode(&record.encode()).is_some());
    }
}

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
    let message = serde_json::from_slice::<T>(bytes).ok()?;
    let text = serde_json::to_vec(&message).expect("texts and numbers are JSON");
    assert_eq!(serde_json::from_slice::<T>(&text).ok().as_ref(), Some(&message));
    Some(message)
}
