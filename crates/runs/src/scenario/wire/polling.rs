//! `[[pollers]]`.

use serde::{Deserialize, Serialize};

use super::super::model::{PasswordSource, PollerGroup, PollerTrust};
use rabbitscope_text::display_duration;

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in super::super) struct Pollers {
    pub(in super::super) name: Option<String>,
    pub(in super::super) url: String,
    pub(in super::super) count: Option<u32>,
    pub(in super::super) interval: Option<String>,
    pub(in super::super) timeout: Option<String>,
    pub(in super::super) user: Option<String>,
    pub(in super::super) password_env: Option<String>,
    pub(in super::super) password_file: Option<String>,
    pub(in super::super) ca: Option<String>,
    pub(in super::super) insecure: Option<bool>,
}

impl From<&PollerGroup> for Pollers {
    fn from(group: &PollerGroup) -> Self {
        let source = group.login.as_ref().map(|login| &login.password);
        let (password_env, password_file) = match source {
            Some(PasswordSource::Environment(name)) => (Some(name.clone()), None),
            Some(PasswordSource::File(path)) => (None, Some(path.clone())),
            None => (None, None),
        };
        let (ca, insecure) = match &group.trust {
            PollerTrust::System => (None, None),
            PollerTrust::Authorities(path) => (Some(path.clone()), None),
            PollerTrust::Anybody => (None, Some(true)),
        };
        Self {
            name: Some(group.name.clone()),
            url: group.url.clone(),
            count: Some(group.count),
            interval: Some(display_duration(group.interval).to_string()),
            timeout: Some(display_duration(group.timeout).to_string()),
            user: group.login.as_ref().map(|login| login.user.clone()),
            password_env,
            password_file,
            ca,
            insecure,
        }
    }
}
