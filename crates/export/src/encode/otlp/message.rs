//! The messages in use, from version 1.11 of `opentelemetry/proto/profiles/v1development/profiles.proto` and its
//! imports: <https://github.com/open-telemetry/opentelemetry-proto>.

use prost::{Message, Oneof};

/// `ExportProfilesServiceRequest`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Request {
    #[prost(message, repeated, tag = "1")]
    pub(super) resource_profiles: Vec<ResourceProfiles>,
    #[prost(message, optional, tag = "2")]
    pub(super) dictionary: Option<Dictionary>,
}

/// `ExportProfilesServiceResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Response {
    #[prost(message, optional, tag = "1")]
    pub(super) partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub(super) rejected_profiles: i64,
    #[prost(string, tag = "2")]
    pub(super) error_message: String,
}

/// `ProfilesDictionary`. The first row of every table is empty, so index 0 means none.
#[expect(clippy::struct_field_names, reason = "names of the published definition")]
#[derive(Clone, PartialEq, Message)]
pub(super) struct Dictionary {
    #[prost(message, repeated, tag = "1")]
    pub(super) mapping_table: Vec<Mapping>,
    #[prost(message, repeated, tag = "2")]
    pub(super) location_table: Vec<Location>,
    #[prost(message, repeated, tag = "3")]
    pub(super) function_table: Vec<Function>,
    #[prost(message, repeated, tag = "4")]
    pub(super) link_table: Vec<Link>,
    #[prost(string, repeated, tag = "5")]
    pub(super) string_table: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    pub(super) attribute_table: Vec<KeyValueAndUnit>,
    #[prost(message, repeated, tag = "7")]
    pub(super) stack_table: Vec<Stack>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResourceProfiles {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(super) scope_profiles: Vec<ScopeProfiles>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(super) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScopeProfiles {
    #[prost(message, optional, tag = "1")]
    pub(super) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub(super) profiles: Vec<Profile>,
}

/// `InstrumentationScope`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Scope {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) version: String,
}

#[expect(clippy::struct_field_names, reason = "names of the published definition")]
#[derive(Clone, PartialEq, Message)]
pub(super) struct Profile {
    #[prost(message, optional, tag = "1")]
    pub(super) sample_type: Option<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<Sample>,
    #[prost(fixed64, tag = "3")]
    pub(super) time_unix_nano: u64,
    #[prost(uint64, tag = "4")]
    pub(super) duration_nano: u64,
    #[prost(message, optional, tag = "5")]
    pub(super) period_type: Option<ValueType>,
    #[prost(int64, tag = "6")]
    pub(super) period: i64,
    #[prost(bytes = "vec", tag = "7")]
    pub(super) profile_id: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(int32, tag = "1")]
    pub(super) type_strindex: i32,
    #[prost(int32, tag = "2")]
    pub(super) unit_strindex: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(int32, tag = "1")]
    pub(super) stack_index: i32,
    #[prost(int32, repeated, tag = "2")]
    pub(super) attribute_indices: Vec<i32>,
    #[prost(int64, repeated, tag = "4")]
    pub(super) values: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Mapping {}

/// `Link` to a span; only the empty one is used.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Link {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Stack {
    /// Indices of locations, innermost first.
    #[prost(int32, repeated, tag = "1")]
    pub(super) location_indices: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(message, repeated, tag = "3")]
    pub(super) lines: Vec<Line>,
    #[prost(int32, repeated, tag = "4")]
    pub(super) attribute_indices: Vec<i32>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Line {
    #[prost(int32, tag = "1")]
    pub(super) function_index: i32,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Function {
    #[prost(int32, tag = "1")]
    pub(super) name_strindex: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValueAndUnit {
    #[prost(int32, tag = "1")]
    pub(super) key_strindex: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
    #[prost(int32, tag = "3")]
    pub(super) unit_strindex: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AnyValue {
    #[prost(oneof = "Value", tags = "1")]
    pub(super) value: Option<Value>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Value {
    #[prost(string, tag = "1")]
    String(String),
}

impl From<&str> for AnyValue {
    fn from(text: &str) -> Self {
        Self { value: Some(Value::String(text.to_owned())) }
    }
}
