//! The flame graph as one SVG file.

use std::io::{self, Write};

use rabbitscope_data::profile::Profile;

/// Writes the flame graph of `profile`.
pub fn write_svg(_out: impl Write, _profile: &Profile) -> io::Result<()> {
    Ok(())
}
