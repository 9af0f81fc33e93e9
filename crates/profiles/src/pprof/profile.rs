//! Conversion of a file with resolved ids into a profile.

use super::{
    super::{Capture, Profile, StackQuality},
    COMMENT_CAPTURE, COMMENT_QUALITY, PprofError,
    read::Import,
    values::{Values, normalised},
};

impl Import<'_> {
    pub(super) fn into_profile(mut self, asked: Option<&str>) -> Result<Profile, PprofError> {
        let values = Values::choose(&self, asked)?;
        let samples = self.samples(&values)?;
        let mut capture = self.capture(&values)?;
        let quality = self.comment(COMMENT_QUALITY)?.unwrap_or_else(|| {
            capture.notes.push("The file has no information on stack quality.".to_owned());
            StackQuality::default()
        });
        let lines = if values.is_usual { self.lines()? } else { Vec::new() };
        let Self { frames, identities, .. } = self;
        let event = values.event;
        let profile = Profile { event, capture, quality, frames, samples, identities, lines };
        Ok(if values.is_own { profile } else { normalised(profile, &values) })
    }

    fn capture(&self, values: &Values) -> Result<Capture, PprofError> {
        let own: Option<Capture> = self.comment(COMMENT_CAPTURE)?;
        if let Some(capture) = own {
            let value = values.value.clone().or(capture.value);
            return Ok(Capture { value, ..capture });
        }
        let message = &self.head;
        Ok(Capture {
            recorder: "pprof".to_owned(),
            started_unix_nanos: u64::try_from(message.time_nanos).unwrap_or(0),
            duration_nanos: u64::try_from(message.duration_nanos).unwrap_or(0),
            period_nanos: values.period_nanos,
            value: values.value.clone(),
            notes: values.notes.clone(),
            ..Capture::default()
        })
    }
}
