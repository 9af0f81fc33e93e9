//! The profile of some time, as a live page asks for it.

use rabbitscope_profiles::Profile;
use serde::Serialize;

use crate::page::profile::ProfileData;

/// The time that a profile covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileSpan {
    /// Number of the latest window in it.
    pub number: u64,
    /// Start of the oldest window, in nanoseconds since 1970.
    pub from: u64,
    /// End of the latest window, in nanoseconds since 1970.
    pub to: u64,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    span: ProfileSpan,
    profile: ProfileData<'a>,
    /// Text of the element `columns` of a report.
    columns: String,
}

/// Returns a profile with its stacks, as JSON.
pub fn live_profile(span: ProfileSpan, profile: &Profile) -> Vec<u8> {
    let (data, columns) = ProfileData::new(profile);
    let mut text = Vec::new();
    columns.write_text(&mut text).expect("memory takes everything");
    let columns = String::from_utf8(text).expect("base64 is text");
    let answer = Answer { span, profile: data, columns };
    serde_json::to_vec(&answer).expect("profiles have only texts, numbers and lists")
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;
    use crate::page::columns::Columns;

    #[test]
    fn an_answer_has_what_a_report_has() {
        let profile = read_folded("scheduler;m:f/1 8".as_bytes()).unwrap();
        let span = ProfileSpan { number: 3, from: 5, to: 7 };
        let json: serde_json::Value =
            serde_json::from_slice(&live_profile(span, &profile)).unwrap();
        assert_eq!([&json["number"], &json["from"], &json["to"]], [3, 5, 7]);
        let (data, columns) = ProfileData::new(&profile);
        assert_eq!(json["profile"], serde_json::to_value(data).unwrap());
        let text = json["columns"].as_str().unwrap().as_bytes();
        assert_eq!(Columns::from_text(text, 1 << 20).unwrap(), columns);
    }
}
