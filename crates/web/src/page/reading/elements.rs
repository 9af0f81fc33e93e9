//! The elements of a page that have data, and the part of the JSON that a profile needs.

use rabbitscope_profiles::{Capture, StackQuality, TooLarge, UnknownValue};
use serde::Deserialize;

use crate::page::{
    columns::{Columns, ColumnsError},
    whole::PAGE_VERSION,
};

/// A page that cannot be read as a profile.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The page could not be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The page exceeds the limit.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// The page is of another program or cut off.
    #[error("it has no element `{0}`, so it is no page of rabbitscope, or not a whole one")]
    NoElement(&'static str),
    /// Another version of the data.
    #[error("the data of this page has version {0}, and this program reads version {known}", known = PAGE_VERSION)]
    Version(u32),
    /// Damaged or foreign JSON.
    #[error("the data of this page is damaged: {0}")]
    Json(#[from] serde_json::Error),
    /// A report without a recording, or a comparison.
    #[error("the page shows no profile of its own")]
    NoProfile,
    /// Damaged columns.
    #[error("the page is damaged: {0}")]
    Columns(#[from] ColumnsError),
    /// Figures that do not fit to each other.
    #[error("the page is damaged: {0}")]
    Inconsistent(&'static str),
    /// A value that the page lacks.
    #[error(transparent)]
    Value(#[from] UnknownValue),
}

/// Name of the element with JSON.
pub(super) const DATA: &str = "<script type=\"application/json\" id=\"data\">";

const COLUMNS: &str = "<script type=\"application/octet-stream\" id=\"columns\">";

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
struct Data {
    profile: Option<ProfileData>,
}

#[derive(Deserialize)]
pub(super) struct ProfileData {
    pub(super) event: String,
    pub(super) capture: Capture,
    pub(super) quality: StackQuality,
    pub(super) lines: Lines,
    pub(super) owners: Owners,
}

/// Columns of the lines; a line 0 has the weight without one.
#[derive(Deserialize)]
pub(super) struct Lines {
    pub(super) files: Vec<String>,
    pub(super) frame: Vec<u32>,
    pub(super) file: Vec<u32>,
    pub(super) line: Vec<u32>,
    pub(super) own: Vec<u64>,
    pub(super) total: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Owners {
    /// Number of processes of each owner.
    pub(super) processes: Vec<u64>,
    pub(super) dimensions: Vec<Dimension>,
    pub(super) step_nanos: u64,
    pub(super) labels: Labels,
}

/// Labels of the owners; −1 for none.
#[derive(Deserialize)]
pub(super) struct Dimension {
    pub(super) name: String,
    pub(super) labels: Vec<String>,
    pub(super) of: Vec<i32>,
}

impl Dimension {
    /// Returns the label of an owner.
    pub(super) fn label(&self, owner: usize) -> Option<&str> {
        let number = usize::try_from(*self.of.get(owner)?).ok()?;
        self.labels.get(number).map(String::as_str)
    }
}

/// Labels of records.
#[derive(Deserialize)]
pub(super) struct Labels {
    pub(super) threads: Vec<String>,
    pub(super) thread: Vec<u32>,
    pub(super) outcome: Vec<rabbitscope_profiles::StackOutcome>,
}

/// Returns the data of the profile and its columns.
pub(super) fn elements(page: &[u8], limit_bytes: u64) -> Result<(ProfileData, Columns), PageError> {
    let data = element(page, DATA).ok_or(PageError::NoElement("data"))?;
    let Version { version } = serde_json::from_slice(data)?;
    if version != PAGE_VERSION {
        return Err(PageError::Version(version));
    }
    let Data { profile } = serde_json::from_slice(data)?;
    let profile = profile.ok_or(PageError::NoProfile)?;
    let columns = element(page, COLUMNS).ok_or(PageError::NoElement("columns"))?;
    Ok((profile, Columns::from_text(columns, limit_bytes)?))
}

/// Returns the text of an element. Its text has no `<`.
fn element<'a>(page: &'a [u8], tag: &str) -> Option<&'a [u8]> {
    let start = find(page, tag.as_bytes())? + tag.len();
    let length = page[start..].iter().position(|&byte| byte == b'<')?;
    Some(&page[start..start + length])
}

pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
