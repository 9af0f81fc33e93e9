//! The whole data of the page, in one serialisable value.

use rabbitscope_diagnosis::Brief;
use rabbitscope_profiles::Profile;
use rabbitscope_runs::record::{RunRecord, SecondRow};
use serde::Serialize;

use crate::{
    checks::{Check, checks},
    document::{Charts, Document},
    figures::{Figure, figures},
    page::diff::{DiffData, DiffReport},
    page::packets::{PacketsData, RunPackets},
    page::profile::ProfileData,
    page::series::charts_of_run,
};

/// Version of the data; the page refuses any other version.
const PAGE_VERSION: u32 = 2;

/// The contents of the report. Any part may be missing: a bare profile is a report, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report<'a> {
    /// The run.
    pub run: Option<&'a RunRecord>,
    /// The limit of the run, and its findings.
    pub brief: Option<&'a Brief>,
    /// The seconds of the run; empty if there are none.
    pub series: &'a [SecondRow],
    /// The profile.
    pub profile: Option<&'a Profile>,
    /// The packets.
    pub packets: Option<RunPackets<'a>>,
}

#[derive(Serialize)]
pub(crate) struct PageData<'a> {
    version: u32,
    rabbitscope: &'static str,
    run: Option<&'a RunRecord>,
    limit: Option<&'a Brief>,
    figures: Vec<Figure>,
    checks: Vec<Check>,
    charts: Option<Charts>,
    packets: Option<PacketsData<'a>>,
    profile: Option<ProfileData<'a>>,
    diff: Option<DiffData<'a>>,
    document: Option<&'a Document>,
}

impl<'a> PageData<'a> {
    pub(crate) fn new(report: &Report<'a>) -> Self {
        Self {
            version: PAGE_VERSION,
            rabbitscope: env!("CARGO_PKG_VERSION"),
            run: report.run,
            limit: report.brief,
            figures: report.run.map(|run| figures(run, report.series)).unwrap_or_default(),
            checks: report.run.map(checks).unwrap_or_default(),
            charts: (!report.series.is_empty()).then(|| charts_of_run(report.run, report.series)),
            packets: report.packets.map(|packets| PacketsData::new(&packets, report.run)),
            profile: report.profile.map(ProfileData::new),
            diff: None,
            document: None,
        }
    }

    pub(crate) fn of_diff(report: DiffReport<'a>) -> Self {
        let diff = Some(DiffData::new(report));
        Self { diff, ..Self::new(&Report::default()) }
    }

    pub(crate) fn of_document(document: &'a Document) -> Self {
        Self { document: Some(document), ..Self::new(&Report::default()) }
    }
}
