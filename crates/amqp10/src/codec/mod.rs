//! Values of the specification's part 1, and frames of part 2.

mod frame;
mod reader;
mod writer;

pub(crate) use frame::{FRAME_HEAD, end_frame, write_frame};
pub(crate) use reader::{Descriptor, Fields, Reader, Value};
pub(crate) use writer::{List, Write};
