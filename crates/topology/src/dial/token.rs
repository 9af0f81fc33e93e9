//! The token of a login, in a file that may be replaced while connections are open.

use std::{
    fmt,
    path::PathBuf,
    sync::{
        Arc, Mutex,
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

struct Shared {
    token: Mutex<String>,
    /// Number of replacements.
    generation: AtomicU64,
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
        let token = Mutex::new(token.trim().to_owned());
        let shared = Shared { token, generation: AtomicU64::new(0) };
        Ok(Self { path: file, shared: Arc::new(shared) })
    }

    /// Reads the file again. A file that is gone, empty or unreadable leaves the token as it is: it may be half replaced.
    pub fn look(&self) {
        let Ok(text) = rabbitscope_files::read_text(&self.path, MAX_TEXT_BYTES) else { return };
        let mut token = self.shared.token.lock().expect("the token's holders do not panic");
        let text = text.trim();
        if !text.is_empty() && *token != text {
            text.clone_into(&mut token);
            self.shared.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// Returns the number of replacements up to now.
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// Returns the token.
    pub fn token(&self) -> String {
        self.shared.token.lock().expect("the token's holders do not panic").clone()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_replaced_token_is_found_and_a_lost_one_kept() {
        let path = std::env::temp_dir().join(format!("rabbitscope-token-{}", std::process::id()));
        fs::write(&path, "one\n").unwrap();
        let file = TokenFile::open(path.to_str().unwrap()).unwrap();
        let copy = file.clone();
        assert_eq!((copy.token(), copy.generation()), ("one".to_owned(), 0));
        file.look();
        assert_eq!(copy.generation(), 0, "it is the same");
        fs::write(&path, "two").unwrap();
        file.look();
        assert_eq!((copy.token(), copy.generation()), ("two".to_owned(), 1));
        for text in [Some(""), None] {
            match text {
                Some(text) => fs::write(&path, text).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            file.look();
            assert_eq!((copy.token(), copy.generation()), ("two".to_owned(), 1));
        }
        assert!(!format!("{file:?}").contains("two"));
    }
}
