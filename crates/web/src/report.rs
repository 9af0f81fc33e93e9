//! The HTML report: one file that works offline and loads nothing.

use std::io::{self, Write};

use rabbitscope_data::{
    profile::Profile,
    run::{RunRecord, SecondRow},
};

/// What the report shows. Any part may be missing: a bare profile is a report too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report<'a> {
    /// The run.
    pub run: Option<&'a RunRecord>,
    /// Its seconds; empty when there are none.
    pub series: &'a [SecondRow],
    /// The profile that was taken.
    pub profile: Option<&'a Profile>,
}

/// Writes the report as one HTML file.
pub fn write_report(_out: impl Write, _report: &Report<'_>) -> io::Result<()> {
    Ok(())
}
