//! Everything the page is given, in one serialisable value.

use rabbitscope_runs::record::RunRecord;
use serde::Serialize;

use crate::{
    Report,
    checks::{Check, checks},
    diff_data::{DiffData, DiffReport},
    figures::{Figure, figures},
    profile_data::ProfileData,
    series_data::SeriesData,
    spectrum::{Spectrum, spectrum},
};

/// Version of the data; the page refuses another one.
const PAGE_VERSION: u32 = 1;

#[derive(Serialize)]
pub(crate) struct PageData<'a> {
    version: u32,
    rabbitscope: &'static str,
    run: Option<&'a RunRecord>,
    figures: Vec<Figure>,
    checks: Vec<Check>,
    series: Option<SeriesData>,
    spectrum: Option<Spectrum>,
    profile: Option<ProfileData<'a>>,
    diff: Option<DiffData<'a>>,
}

impl<'a> PageData<'a> {
    pub(crate) fn new(report: &Report<'a>) -> Self {
        Self {
            version: PAGE_VERSION,
            rabbitscope: env!("CARGO_PKG_VERSION"),
            run: report.run,
            figures: report.run.map(|run| figures(run, report.series)).unwrap_or_default(),
            checks: report.run.map(checks).unwrap_or_default(),
            spectrum: report.run.and_then(spectrum),
            series: (!report.series.is_empty()).then(|| SeriesData::new(report.series)),
            profile: report.profile.map(ProfileData::new),
            diff: None,
        }
    }

    pub(crate) fn of_diff(report: DiffReport<'a>) -> Self {
        let diff = Some(DiffData::new(report));
        Self { diff, ..Self::new(&Report::default()) }
    }
}
