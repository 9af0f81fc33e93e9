//! One line that says how far the stacks of a profile can be trusted.

use rabbitscope_data::profile::StackQuality;

/// The quality of a profile in one line, for the terminal, the page and the caption of a picture.
pub fn quality_sentence(_quality: &StackQuality) -> String {
    String::new()
}
