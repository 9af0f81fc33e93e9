//! Bindings, as the broker's management interface lists them (`GET /api/bindings/VHOST`).

use std::{fmt, time::Duration};

use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rabbitscope_terminal::UsageError;
use rabbitscope_topology::{BindingSource, SeenBinding};
use serde::Deserialize;

/// Time limit of the whole request. Chosen.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Size limit of an answer: some hundred thousand bindings.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// The management interface of a broker. Its login is never shown.
pub struct Management {
    /// Without login and without a slash at the end.
    url: String,
    authorization: String,
}

impl fmt::Debug for Management {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Management({})", self.url)
    }
}

/// A binding in the answer.
#[derive(Deserialize)]
struct Listed {
    source: String,
    destination: String,
    destination_type: String,
    routing_key: String,
}

impl Management {
    /// Reads `http://USER:PASSWORD@HOST:PORT`.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let parts = text.strip_prefix("http://").and_then(|rest| rest.rsplit_once('@'));
        let parts = parts.and_then(|(login, place)| Some((login.split_once(':')?, place)));
        let Some(((user, password), place)) = parts else {
            let reason = "--management has to be http://USER:PASSWORD@HOST:PORT";
            return Err(UsageError(reason.to_owned()).into());
        };
        let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let login = format!("{}:{}", decoded(user), decoded(password));
        let authorization = format!("Basic {}", STANDARD.encode(login));
        Ok(Self { url: format!("http://{}", place.trim_end_matches('/')), authorization })
    }

    fn ask(&self, vhost: &str) -> anyhow::Result<Vec<Listed>> {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            // A proxy from the environment would see the login.
            .proxy(None)
            .user_agent(concat!("rabbitscope/", env!("CARGO_PKG_VERSION")))
            .build();
        let vhost = utf8_percent_encode(vhost, NON_ALPHANUMERIC);
        let request = ureq::Agent::new_with_config(config)
            .get(format!("{}/api/bindings/{vhost}", self.url))
            .header("Authorization", &self.authorization);
        let mut response = request.call()?;
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
        serde_json::from_slice(&body).context("its answer is not a list of bindings")
    }
}

impl BindingSource for Management {
    fn bindings(&self, vhost: &str) -> Result<Vec<SeenBinding>, String> {
        let all = self
            .ask(vhost)
            .map_err(|error| format!("{} gives no bindings: {error:#}", self.url))?;
        let seen = all.into_iter().map(|binding| SeenBinding {
            to_queue: binding.destination_type == "queue",
            source: binding.source,
            destination: binding.destination,
            routing_key: binding.routing_key,
        });
        Ok(seen.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_needed_and_not_kept_in_the_url() {
        for text in ["http://localhost:15672", "localhost", "https://u:p@h", "http://u@h"] {
            assert!(Management::parse(text).is_err(), "{text}");
        }
        let parsed = Management::parse("http://a%40b:p:w@localhost:15672/").unwrap();
        assert_eq!(parsed.url, "http://localhost:15672");
        assert_eq!(parsed.authorization, format!("Basic {}", STANDARD.encode("a@b:p:w")));
    }
}
