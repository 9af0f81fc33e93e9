//! The token of a login, in a file that may be replaced while connections are open.

use std::{
    fmt,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use rabbitscope_files::MAX_TEXT_BYTES;

use crate::error::TopologyError;

/// The token of a file. Copies share what was read last.
#[derive(Clone)]
pub struct TokenFile {
    path: PathBuf,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    tokens: Mutex<Tokens>,
    /// Number of replacements.
    generation: AtomicU64,
}

#[derive(Default)]
struct Tokens {
    /// The one of open connections.
    taken: String,
    /// The last one of the file.
    latest: String,
    /// One that the broker does not take.
    refused: Option<String>,
}

/// Hides the token.
impl fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl TokenFile {
    /// Reads a token.
    pub(super) fn open(path: &str) -> Result<Self, TopologyError> {
        let file = PathBuf::from(path);
        let token = rabbitscope_files::read_text(&file, MAX_TEXT_BYTES)
            .map_err(|source| TopologyError::File { path: path.to_owned(), source })?;
        let token = token.trim().to_owned();
        let tokens = Tokens { taken: token.clone(), latest: token, refused: None };
        let shared = Shared { tokens: Mutex::new(tokens), generation: AtomicU64::new(0) };
        Ok(Self { path: file, shared: Arc::new(shared) })
    }

    /// Reads the file again. Returns the token for a new connection: that of the file, unless the broker has refused it.
    /// A file that is gone, empty or unreadable leaves the token as it is: it may be half replaced.
    pub fn latest(&self) -> String {
        let mut tokens = self.look();
        let is_refused = tokens.refused.as_ref() == Some(&tokens.latest);
        let Tokens { taken, latest, .. } = &mut *tokens;
        if is_refused { taken.clone() } else { latest.clone() }
    }

    /// Reads the file again. Returns its token if it is for open connections, too: they have another one, and the broker
    /// has not refused this one.
    pub fn candidate(&self) -> Option<String> {
        let tokens = self.look();
        let is_new = tokens.latest != tokens.taken;
        (is_new && tokens.refused.as_ref() != Some(&tokens.latest)).then(|| tokens.latest.clone())
    }

    fn look(&self) -> MutexGuard<'_, Tokens> {
        let text = rabbitscope_files::read_text(&self.path, MAX_TEXT_BYTES);
        let mut tokens = self.tokens();
        if let Some(text) =
            text.as_ref().ok().map(|text| text.trim()).filter(|text| !text.is_empty())
        {
            text.clone_into(&mut tokens.latest);
        }
        tokens
    }

    fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.shared.tokens.lock().expect("the token's holders do not panic")
    }

    /// Replaces the token of open connections.
    pub fn replace(&self, token: String) {
        self.tokens().taken = token;
        self.shared.generation.fetch_add(1, Ordering::Release);
    }

    /// Keeps the token of open connections, since the broker does not take this one.
    pub fn refuse(&self, token: String) {
        self.tokens().refused = Some(token);
    }

    /// Returns the number of replacements up to now.
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// Returns the token of open connections.
    pub fn token(&self) -> String {
        self.tokens().taken.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_replaced_token_is_found_and_a_lost_one_kept() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("token");
        fs::write(&path, "one\n").unwrap();
        let file = TokenFile::open(path.to_str().unwrap()).unwrap();
        let copy = file.clone();
        let all = || (copy.token(), copy.latest(), copy.candidate(), copy.generation());
        let text = |text: &str| text.to_owned();
        assert_eq!(all(), (text("one"), text("one"), None, 0), "it is the same");
        fs::write(&path, "two").unwrap();
        assert_eq!(all(), (text("one"), text("two"), Some(text("two")), 0));
        file.replace(text("two"));
        assert_eq!(all(), (text("two"), text("two"), None, 1));
        fs::write(&path, "").unwrap();
        assert_eq!(all(), (text("two"), text("two"), None, 1));
        fs::remove_file(&path).unwrap();
        assert_eq!(all(), (text("two"), text("two"), None, 1));
        assert!(!format!("{file:?}").contains("two"));
    }

    #[test]
    fn a_refused_token_is_asked_for_once() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("token");
        fs::write(&path, "one").unwrap();
        let file = TokenFile::open(path.to_str().unwrap()).unwrap();
        fs::write(&path, "forged").unwrap();
        file.refuse(file.candidate().unwrap());
        assert_eq!((file.candidate(), file.latest(), file.generation()), (None, file.token(), 0));
        fs::write(&path, "two").unwrap();
        assert_eq!((file.candidate(), file.latest()), (Some("two".to_owned()), "two".to_owned()));
    }
}
