//! Pyroscope: `push.v1.PusherService/Push` in the Connect protocol, protobuf.
//!
//! Messages: `api/push/v1/push.proto` and `api/types/v1/types.proto` of <https://github.com/grafana/pyroscope>.

use prost::Message;
use rabbitscope_profiles::{Event, write_labelled_pprof};

use super::{
    SeriesProfile,
    identity::{uuid, window_id},
};
use crate::Window;

#[derive(Clone, PartialEq, Message)]
struct PushRequest {
    #[prost(message, repeated, tag = "1")]
    series: Vec<RawProfileSeries>,
}

#[derive(Clone, PartialEq, Message)]
struct RawProfileSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<LabelPair>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<RawSample>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelPair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct RawSample {
    #[prost(bytes = "vec", tag = "1")]
    raw_profile: Vec<u8>,
    #[prost(string, tag = "2")]
    id: String,
}

/// Encodes a request's body.
pub(crate) fn pyroscope_request(window: &Window, series: &SeriesProfile<'_>) -> Vec<u8> {
    let labels = series_labels(window).into_iter();
    let labels = labels.map(|(name, value)| LabelPair { name: name.to_owned(), value });
    let sample = RawSample { raw_profile: pprof(series), id: uuid(window_id(window)) };
    let series = RawProfileSeries { labels: labels.collect(), samples: vec![sample] };
    PushRequest { series: vec![series] }.encode_to_vec()
}

/// Labels of a window's samples, named as Pyroscope and Parca expect, sorted by name.
pub(super) fn series_labels(window: &Window) -> Vec<(&'static str, String)> {
    let mut labels = vec![("__name__", profile_name(window.profile.event).to_owned())];
    for (name, value) in window.labels.pairs() {
        let name = if name == "service" { "service_name" } else { name };
        labels.push((name, value.to_owned()));
    }
    labels
}

/// Name of a profile: the one for Go's profiles where Pyroscope has one.
fn profile_name(event: Event) -> &'static str {
    match event {
        Event::Cpu => "process_cpu",
        Event::OffCpu => "off_cpu",
        Event::PageFaults => "page_faults",
        Event::ContextSwitches => "context_switches",
        Event::CallTime => "call_time",
        Event::Mmap | Event::Munmap | Event::Brk | Event::Imported => event.name(),
    }
}

/// Encodes a profile as gzipped pprof with bounded labels.
pub(super) fn pprof(series: &SeriesProfile<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_labelled_pprof(series.profile, series.labelled(), &mut bytes)
        .expect("memory takes all bytes");
    bytes
}
