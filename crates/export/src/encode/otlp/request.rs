//! A request with one profile, and its answer.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use prost::Message;
use rabbitscope_profiles::Event;

use super::{
    super::{SeriesProfile, identity::window_id},
    dictionary::Tables,
    message::{
        AnyValue, KeyValue, Profile, Request, Resource, ResourceProfiles, Response, Sample, Scope,
        ScopeProfiles, ValueType,
    },
};
use crate::Window;

/// Encodes a request's body, gzipped. A value is a number of samples, or a weight if the event has weights.
pub(crate) fn otlp_profiles(window: &Window, series: &SeriesProfile<'_>) -> Vec<u8> {
    let mut tables = Tables::from_profile(series.profile);
    let profile = profile(window, series, &mut tables);
    let scope =
        Scope { name: "rabbitscope".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let scope_profiles = ScopeProfiles { scope: Some(scope), profiles: vec![profile] };
    let resource_profiles =
        ResourceProfiles { resource: Some(resource(window)), scope_profiles: vec![scope_profiles] };
    let dictionary = Some(tables.into_dictionary());
    let request = Request { resource_profiles: vec![resource_profiles], dictionary };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&request.encode_to_vec()).expect("memory takes all bytes");
    gzip.finish().expect("memory takes all bytes")
}

fn profile<'a>(window: &Window, series: &SeriesProfile<'a>, tables: &mut Tables<'a>) -> Profile {
    let event = series.profile.event;
    let has_weights = event.is_weighted();
    let sample_type = if has_weights {
        value_type(tables, event.name(), event.unit())
    } else {
        value_type(tables, event.occurrences(), "count")
    };
    let period = series.profile.capture.period_nanos;
    let has_period = event == Event::Cpu && period > 0;
    let period_type = has_period.then(|| value_type(tables, "cpu", "nanoseconds"));
    let samples = series.stacks().iter().map(|stack| {
        let pairs = stack.labels.pairs().into_iter();
        let value = if has_weights { stack.weight } else { stack.count };
        Sample {
            stack_index: tables.stack(stack.entries),
            attribute_indices: pairs.map(|(key, value)| tables.attribute(key, value)).collect(),
            values: vec![to_i64(value)],
        }
    });
    Profile {
        samples: samples.collect(),
        sample_type: Some(sample_type),
        time_unix_nano: window.started_unix_nanos,
        duration_nano: u64::try_from(window.duration.as_nanos()).unwrap_or(u64::MAX),
        period_type,
        period: if has_period { to_i64(period) } else { 0 },
        profile_id: window_id(window).to_be_bytes().to_vec(),
    }
}

fn value_type(tables: &mut Tables<'_>, name: &str, unit: &str) -> ValueType {
    ValueType { type_strindex: tables.string(name), unit_strindex: tables.string(unit) }
}

fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Resource attributes, named by OpenTelemetry's semantic conventions.
fn resource(window: &Window) -> Resource {
    let attributes = window.labels.pairs().map(|(name, value)| {
        let key = match name {
            "cluster" => "k8s.cluster.name",
            "namespace" => "k8s.namespace.name",
            "pod" => "k8s.pod.name",
            "node" => "service.instance.id",
            "version" => "service.version",
            _ => "service.name",
        };
        KeyValue { key: key.to_owned(), value: Some(AnyValue::from(value)) }
    });
    Resource { attributes: attributes.collect() }
}

/// Returns the backend's reason if it rejected profiles in spite of a successful status.
pub(crate) fn rejected_profiles(answer: &[u8]) -> Option<String> {
    let partial = Response::decode(answer).ok()?.partial_success?;
    (partial.rejected_profiles > 0).then_some(partial.error_message)
}
