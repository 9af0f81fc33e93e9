//! The whole data of the page, in one serialisable value.

use rabbitscope_diagnosis::Brief;
use rabbitscope_profiles::Profile;
use rabbitscope_runs::record::{RunRecord, SecondRow};
use serde::Serialize;

use crate::{
    checks::{Check, checks},
    document::{Charts, Document},
    figures::{Figure, figures, figures_of_profile, more_figures},
    live::LivePage,
    page::columns::Columns,
    page::diff::{DiffData, DiffReport},
    page::packets::{PacketsData, RunPackets},
    page::profile::ProfileData,
    page::series::charts_of_run,
};

/// Version of the data; the page refuses any other version.
pub(crate) const PAGE_VERSION: u32 = 3;

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
    /// Pages of the other events of the same recording.
    pub others: &'a [OtherPage<'a>],
}

/// A page of another event, in the same directory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OtherPage<'a> {
    /// Name of the event.
    pub event: &'a str,
    /// Name of the file.
    pub file: &'a str,
}

#[derive(Serialize)]
pub(crate) struct PageData<'a> {
    version: u32,
    rabbitscope: &'static str,
    run: Option<&'a RunRecord>,
    limit: Option<&'a Brief>,
    figures: Vec<Figure>,
    /// Figures that say little at first sight.
    #[serde(rename = "more-figures")]
    more_figures: Vec<Figure>,
    others: &'a [OtherPage<'a>],
    checks: Vec<Check>,
    charts: Option<Charts>,
    packets: Option<PacketsData<'a>>,
    profile: Option<ProfileData<'a>>,
    diff: Option<DiffData<'a>>,
    /// The stacks of the profile or of the comparison, which stand in an element of their own.
    #[serde(skip)]
    pub(crate) columns: Option<Columns>,
    document: Option<&'a Document>,
    /// The page is live: its data comes as events.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a LivePage>,
}

impl<'a> PageData<'a> {
    pub(crate) fn new(report: &Report<'a>) -> Self {
        let (profile, columns) = report.profile.map(ProfileData::new).unzip();
        Self {
            version: PAGE_VERSION,
            rabbitscope: env!("CARGO_PKG_VERSION"),
            run: report.run,
            limit: report.brief,
            figures: main_figures(report),
            more_figures: report.run.map(more_figures).unwrap_or_default(),
            others: report.others,
            checks: report.run.map(checks).unwrap_or_default(),
            charts: (!report.series.is_empty()).then(|| charts_of_run(report.run, report.series)),
            packets: report.packets.map(|packets| PacketsData::new(&packets, report.run)),
            profile,
            diff: None,
            columns,
            document: None,
            live: None,
        }
    }

    pub(crate) fn of_diff(report: DiffReport<'a>) -> Self {
        let (diff, columns) = DiffData::new(report);
        Self { diff: Some(diff), columns: Some(columns), ..Self::empty() }
    }

    pub(crate) fn empty() -> Self {
        Self::new(&Report::default())
    }

    pub(crate) fn with_document(self, document: &'a Document) -> Self {
        Self { document: Some(document), ..self }
    }

    pub(crate) fn of_live(page: &'a LivePage) -> Self {
        Self { live: Some(page), ..Self::new(&Report::default()) }
    }
}

/// Returns the figures of the run; of the profile if there is no run.
fn main_figures(report: &Report<'_>) -> Vec<Figure> {
    match (report.run, report.profile) {
        (Some(run), _) => figures(run, report.series),
        (None, Some(profile)) => figures_of_profile(profile),
        (None, None) => Vec::new(),
    }
}
