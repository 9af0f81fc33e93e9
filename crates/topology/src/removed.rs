//! The result of a removal: removed objects, kept objects and the reasons. `removal.rs` does the removal.

use std::fmt;

use rabbitscope_runs::scenario::QueueType;

/// Removed objects and kept objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Descriptions: "queue `q`".
    pub removed: Vec<String>,
    /// Kept objects in the order of the check.
    pub kept: Vec<KeptObject>,
}

/// An object that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptObject {
    /// Description: "queue `q`".
    pub what: String,
    /// Reason for keeping it.
    pub reason: KeptReason,
}

/// Reason for keeping an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptReason {
    /// The object has consumers, or bindings of others.
    InUse,
    /// The queue holds this number of messages.
    Messages(u32),
    /// The queue holds messages that cannot be recognized as the run's.
    MessagesOfOthers,
    /// The queue holds more messages than could be read in time.
    TooManyMessages,
    /// A message arrived during the removal.
    MessageArrived,
    /// The broker deletes a queue of this type even if a message arrives meanwhile.
    NeverChecked(QueueType),
    /// It is unknown whether others have bound the object; the cause.
    BindingsUnseen(String),
    /// The object has a binding that is not the run's.
    Bound {
        /// The source exchange.
        exchange: String,
        /// The routing key.
        key: String,
    },
    /// The object is not the one that the run declared.
    DeclaredAnew,
    /// The run ended before it could mark the object, or never declared it.
    NotMarked,
    /// The broker refused; its text.
    Refused(String),
}

impl KeptReason {
    /// Returns whether the object is certainly the run's own, and can be removed once the reason is gone.
    pub fn is_ours(&self) -> bool {
        !matches!(self, Self::DeclaredAnew | Self::NotMarked)
    }
}

impl fmt::Display for KeptObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        match &self.reason {
            KeptReason::InUse => write!(f, "{what}: others use it"),
            KeptReason::Messages(1) => write!(f, "{what}: it holds 1 message"),
            KeptReason::Messages(count) => write!(f, "{what}: it holds {count} messages"),
            KeptReason::MessagesOfOthers => {
                write!(f, "{what}: it holds messages that may not belong to the run")
            }
            KeptReason::TooManyMessages => {
                write!(f, "{what}: it holds more messages than could be read in time")
            }
            KeptReason::MessageArrived => {
                write!(f, "{what}: a message arrived while it was being removed")
            }
            KeptReason::NeverChecked(queue_type) => {
                let kind = queue_type.as_str();
                write!(
                    f,
                    "{what}: the broker deletes a queue of type {kind} even if a message arrives at that moment"
                )
            }
            KeptReason::BindingsUnseen(reason) => {
                write!(f, "{what}: an application may have bound or declared it since ({reason})")
            }
            KeptReason::Bound { exchange, key } => {
                write!(f, "{what}: it is bound to exchange `{exchange}` by `{key}`, not by the run")
            }
            KeptReason::DeclaredAnew => {
                write!(f, "{what}: it is not the object that the run declared")
            }
            KeptReason::NotMarked => write!(
                f,
                "{what}: it may not belong to the run, which perhaps ended before it could mark it"
            ),
            KeptReason::Refused(text) => write!(f, "{what}: {text}"),
        }
    }
}

/// The outcome for the leftovers of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// This is another broker or virtual host, or one that has lost everything. Nothing was removed.
    NotHere,
    /// The run is still connected to the broker. Nothing was removed.
    Alive,
    /// The broker does not tell; its text. Nothing was removed.
    Unknown(String),
    /// The objects that are certainly the run's are removed, except the kept ones.
    Settled(Removal),
}
