//! Values of the specification's part 1, and frames of part 2.

mod frame;
mod reader;
mod value;
mod writer;

pub(crate) use frame::{FRAME_HEAD, end_frame, write_frame};
pub(crate) use reader::{Fields, Reader};
pub(crate) use value::{Descriptor, Value};
pub(crate) use writer::{List, Write};
