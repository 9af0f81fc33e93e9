//! pprof: gzipped protocol buffers that `go tool pprof` and many other tools open.
//!
//! [`message`] has the messages of `profile.proto` that are read, [`fields`] their outermost layer. [`mod@write`] and
//! [`mod@read`] are the two directions; [`encode`] encodes fields. Facts without a pprof field (quality, capture) go
//! into comments, and the kind of a frame into its mapping, so that a written profile reads back unchanged.
//! `docs/reference/formats.md` describes this for other readers.

mod encode;
mod error;
mod fields;
mod message;
mod profile;
mod read;
mod samples;
mod strings;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_values;
mod values;
mod vocabulary;
mod write;

pub use error::PprofError;
pub use read::{read_pprof, read_pprof_with};
use vocabulary::{
    COMMENT_CAPTURE, COMMENT_EVENT, COMMENT_QUALITY, KEPT_LABELS, KINDS, LABEL_CHANNEL,
    LABEL_CLIENT, LABEL_CONNECTION, LABEL_MODE, LABEL_NAME, LABEL_OUTCOME, LABEL_PROCESS,
    LABEL_QUEUE, LABEL_ROLE, LABEL_THREAD, LABEL_VHOST, MODES, OUTCOMES,
};
pub use write::{LabelledStack, write_labelled_pprof, write_pprof, write_pprof_fast};
