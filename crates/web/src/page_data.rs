//! Everything the page is given, in one serialisable value.

use rabbitscope_data::run::RunRecord;
use serde::Serialize;

use crate::{
    Report,
    diff_data::{DiffData, DiffReport},
    figures::{Figure, figures},
    profile_data::ProfileData,
    series_data::SeriesData,
};

/// Version of the data; the page refuses another one.
const PAGE_VERSION: u32 = 1;

#[derive(Serialize)]
pub(crate) struct PageData<'a> {
    version: u32,
    rabbitscope: &'static str,
    run: Option<&'a RunRecord>,
    figures: Vec<Figure>,
    series: Option<SeriesData>,
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
