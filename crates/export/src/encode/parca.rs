//! Parca: `ProfileStoreService/WriteRaw` as JSON over HTTP.
//!
//! Messages: `proto/parca/profilestore/v1alpha1/profilestore.proto` of <https://github.com/parca-dev/parca>, in the JSON
//! form of protobuf.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Serialize;

use super::{
    SeriesProfile,
    pyroscope::{pprof, series_labels},
};
use crate::Window;

#[derive(Serialize)]
struct WriteRawRequest {
    series: [RawProfileSeries; 1],
    normalized: bool,
}

#[derive(Serialize)]
struct RawProfileSeries {
    labels: LabelSet,
    samples: [RawSample; 1],
}

#[derive(Serialize)]
struct LabelSet {
    labels: Vec<Label>,
}

#[derive(Serialize)]
struct Label {
    name: &'static str,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RawSample {
    raw_profile: String,
}

/// Encodes a request's body.
pub(crate) fn parca_request(window: &Window, series: &SeriesProfile<'_>) -> Vec<u8> {
    let labels = series_labels(window).into_iter();
    let labels = labels.map(|(name, value)| Label { name, value }).collect();
    let sample = RawSample { raw_profile: BASE64_STANDARD.encode(pprof(series)) };
    let series = RawProfileSeries { labels: LabelSet { labels }, samples: [sample] };
    // Functions already have names; Parca need not look up addresses.
    let request = WriteRawRequest { series: [series], normalized: true };
    serde_json::to_vec(&request).expect("texts and lists are JSON")
}
