//! The result of a removal: what was removed, what was kept, and why. `removal.rs` does the removal.

use std::fmt;

use rabbitscope_runs::scenario::QueueType;

/// What was removed, and what was left where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// In words: "queue `q`".
    pub removed: Vec<String>,
    /// In order of looking.
    pub kept: Vec<KeptObject>,
}

/// Something that was left where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptObject {
    /// In words: "queue `q`".
    pub what: String,
    /// Why.
    pub reason: KeptReason,
}

/// Why something was left where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptReason {
    /// It has consumers, or bindings of others.
    InUse,
    /// It holds messages.
    Messages(u32),
    /// It holds messages that cannot be recognized as the run's.
    MessagesOfOthers,
    /// More messages than were read in time.
    TooManyMessages,
    /// A message came while it was being removed.
    MessageArrived,
    /// The broker deletes a queue of this type even if a message arrives meanwhile.
    NeverChecked(QueueType),
    /// Whether others have bound it is not known; why.
    BindingsUnseen(String),
    /// A binding that is not the run's.
    Bound {
        /// From this exchange.
        exchange: String,
        /// By this key.
        key: String,
    },
    /// It is not the one that the run declared.
    DeclaredAnew,
    /// The run ended before it could mark it, or it never declared it.
    NotMarked,
    /// The broker's words.
    Refused(String),
}

impl KeptReason {
    /// It is certainly the run's own, and can be removed once the reason is gone.
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
                write!(f, "{what}: it holds messages that cannot be recognized as the run's")
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
                    "{what}: the broker deletes a queue of type {kind} even when a message arrives at that \
                     moment"
                )
            }
            KeptReason::BindingsUnseen(reason) => {
                write!(f, "{what}: an application may have bound or declared it since ({reason})")
            }
            KeptReason::Bound { exchange, key } => {
                write!(f, "{what}: it is bound to exchange `{exchange}` by `{key}`, not by the run")
            }
            KeptReason::DeclaredAnew => {
                write!(f, "{what}: it is not the one that the run declared")
            }
            KeptReason::NotMarked => write!(
                f,
                "{what}: it cannot be proved to be the run's, which may have been killed before it could \
                 mark it"
            ),
            KeptReason::Refused(text) => write!(f, "{what}: {text}"),
        }
    }
}

/// What became of what a run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// Another broker or virtual host, or one that has lost all it had: nothing was touched.
    NotHere,
    /// The run is still connected to the broker: nothing was touched.
    Alive,
    /// The broker does not say; its words. Nothing was touched.
    Unknown(String),
    /// What is certainly the run's is removed, but for what was kept.
    Settled(Removal),
}
