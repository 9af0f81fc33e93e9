//! The cookie, a secret that nodes share, and its places. It is never printed, and cleared when dropped.

use std::{
    env, fmt,
    fs::File,
    io,
    os::unix::{ffi::OsStringExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use rabbitscope_files::MAX_TEXT_BYTES;
use zeroize::Zeroizing;

use crate::ErlangError;

const VARIABLE: &str = "RABBITSCOPE_COOKIE";
const OF_THE_PACKAGE: &str = "/var/lib/rabbitmq/.erlang.cookie";

/// A cookie with its origin.
#[derive(Clone)]
pub struct Cookie {
    secret: Zeroizing<Vec<u8>>,
    origin: String,
    /// User id of the owner of the cookie's file.
    owner: Option<u32>,
}

/// The origin of the cookie.
#[derive(Clone, Debug, Default)]
pub enum CookieSource {
    /// The variable `RABBITSCOPE_COOKIE`; if it is not set, `~/.erlang.cookie` and the file of the distribution's
    /// package, in this order.
    #[default]
    UsualPlaces,
    /// A file.
    File(PathBuf),
    /// The variable `RABBITSCOPE_COOKIE`; if it is not set, `.erlang.cookie` in these directories below another root
    /// directory, such as that of a container.
    OtherRoot {
        /// The root directory, as this process sees it.
        root: PathBuf,
        /// Absolute paths below it, in this order.
        homes: Vec<PathBuf>,
    },
}

impl CookieSource {
    /// Fails if there is no cookie to try.
    pub fn check(&self) -> Result<(), ErlangError> {
        self.cookies().map(drop)
    }

    /// Returns the cookies to try, at least one.
    pub(crate) fn cookies(&self) -> Result<Vec<Cookie>, ErlangError> {
        if let Self::File(path) = self {
            let unreadable = |source| ErlangError::CookieFile { path: path.clone(), source };
            return Ok(vec![Cookie::read(path).map_err(unreadable)?]);
        }
        // The value may have any bytes, as a file may.
        if let Some(value) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            let secret = Zeroizing::new(value.into_vec());
            return Ok(vec![Cookie {
                secret,
                origin: format!("the variable {VARIABLE}"),
                owner: None,
            }]);
        }
        if let Self::OtherRoot { root, homes } = self {
            return in_other_root(root, homes);
        }
        let home = env::var_os("HOME").filter(|home| !home.is_empty());
        let home = home.map(|home| Path::new(&home).join(".erlang.cookie"));
        let files: Vec<PathBuf> = home.into_iter().chain([OF_THE_PACKAGE.into()]).collect();
        let found: Vec<Cookie> = files.iter().filter_map(|file| Cookie::read(file).ok()).collect();
        if found.is_empty() {
            Err(ErlangError::NoCookie { looked: said(&files) })
        } else {
            Ok(found)
        }
    }
}

/// Returns the cookies below another root directory, at least one.
fn in_other_root(root: &Path, homes: &[PathBuf]) -> Result<Vec<Cookie>, ErlangError> {
    let (mut found, mut looked) = (Vec::new(), Vec::new());
    for home in homes {
        let path = home.join(".erlang.cookie");
        let file = rabbitscope_files::open_in_root(root, &path, MAX_TEXT_BYTES);
        let origin = format!("{} below {}", path.display(), root.display());
        match file.and_then(|file| Cookie::from_file(file, origin.clone())) {
            Ok(cookie) => found.push(cookie),
            Err(error) => looked.push(format!("{origin} ({error})")),
        }
    }
    if found.is_empty() {
        Err(ErlangError::NoCookie { looked: looked.join(", ") })
    } else {
        Ok(found)
    }
}

fn said(files: &[PathBuf]) -> String {
    let each = |path: &PathBuf| match rabbitscope_files::open(path, MAX_TEXT_BYTES) {
        Err(error) => format!("{} ({error})", path.display()),
        Ok(_) => format!("{} (empty)", path.display()),
    };
    files.iter().map(each).collect::<Vec<_>>().join(", ")
}

impl Cookie {
    /// Makes a cookie with a known value.
    pub fn new(secret: &str, origin: &str) -> Self {
        let secret = Zeroizing::new(secret.as_bytes().to_vec());
        Self { secret, origin: origin.to_owned(), owner: None }
    }

    fn read(path: &Path) -> io::Result<Self> {
        let file = rabbitscope_files::open(path, MAX_TEXT_BYTES)?;
        Self::from_file(file, path.display().to_string())
    }

    fn from_file(file: File, origin: String) -> io::Result<Self> {
        let owner = file.metadata()?.uid();
        let text = Zeroizing::new(rabbitscope_files::read_all(file, MAX_TEXT_BYTES)?);
        let secret = Zeroizing::new(text.trim_ascii().to_vec());
        if secret.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is empty"));
        }
        Ok(Self { secret, origin, owner: Some(owner) })
    }

    /// User id of the owner of the cookie's file; `None` for a cookie without a file.
    pub fn owner(&self) -> Option<u32> {
        self.owner
    }

    /// The origin, for messages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cookie(from {})", self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_printed() {
        let cookie = Cookie::new("SECRET", "a test");
        assert!(!format!("{cookie:?}").contains("SECRET"));
    }

    #[test]
    fn a_file_that_is_not_there() {
        let error = CookieSource::File("/no/such/file".into()).cookies().unwrap_err();
        assert!(error.to_string().contains("/no/such/file"), "{error}");
    }
}
