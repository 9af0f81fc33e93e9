//! The output files of a profile. The suffix of the name decides the format. The input formats are in
//! [`crate::source`].

use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use rabbitscope_files::AtomicFile;
use rabbitscope_profiles::{
    Event, Profile, write_firefox, write_folded, write_pprof, write_speedscope,
};
use rabbitscope_terminal::UsageError;
use rabbitscope_text::compact_utc;
use rabbitscope_web::{OtherPage, Report, write_report, write_svg};

/// A file format of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfileFormat {
    Html,
    Svg,
    Pprof,
    Folded,
    Speedscope,
    Firefox,
}

const SUFFIXES: [(&str, ProfileFormat); 6] = [
    (".html", ProfileFormat::Html),
    (".svg", ProfileFormat::Svg),
    (".pb.gz", ProfileFormat::Pprof),
    (".folded", ProfileFormat::Folded),
    (".speedscope.json", ProfileFormat::Speedscope),
    (".firefox.json", ProfileFormat::Firefox),
];

impl ProfileFormat {
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_bytes();
        let fits = |suffix: &str| name.ends_with(suffix.as_bytes());
        SUFFIXES.iter().find(|(suffix, _)| fits(suffix)).map(|&(_, format)| format)
    }
}

/// The path of a profile, checked before the recording started.
#[derive(Debug)]
pub struct ProfileFile {
    format: ProfileFormat,
    path: PathBuf,
}

impl ProfileFile {
    /// Refuses an unknown suffix, and a path that cannot be written. Leaves no file behind.
    pub fn check(path: &Path) -> anyhow::Result<Self> {
        let format =
            ProfileFormat::from_path(path).ok_or_else(|| unknown_suffix(path, &SUFFIXES))?;
        drop(AtomicFile::create(path)?);
        Ok(Self { format, path: path.to_owned() })
    }

    /// Writes the profile in the format of the suffix.
    pub fn write(&self, profile: &Profile) -> anyhow::Result<()> {
        self.write_beside(profile, &[])
    }

    /// Writes the profile as [`Self::write`] does. A page links to the pages of the same recording's other events,
    /// which stand in the same directory.
    pub fn write_beside(
        &self,
        profile: &Profile,
        recording: &[(Event, &Self)],
    ) -> anyhow::Result<()> {
        let others: Vec<OtherPage<'_>> =
            recording.iter().filter_map(|&(event, file)| file.page_beside(self, event)).collect();
        let mut file = AtomicFile::create(&self.path)?;
        let out = file.writer();
        match self.format {
            ProfileFormat::Html => {
                let report =
                    Report { profile: Some(profile), others: &others, ..Report::default() };
                write_report(out, &report)
            }
            ProfileFormat::Svg => write_svg(out, profile),
            ProfileFormat::Pprof => write_pprof(profile, out),
            ProfileFormat::Folded => write_folded(profile, out),
            ProfileFormat::Speedscope => write_speedscope(profile, out),
            ProfileFormat::Firefox => write_firefox(profile, out),
        }
        .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(file.commit()?)
    }

    /// Returns this page, if it is not `other` and its name is text.
    fn page_beside(&self, other: &Self, event: Event) -> Option<OtherPage<'_>> {
        let is_other = self.path != other.path && self.format == ProfileFormat::Html;
        let file = self.path.file_name().and_then(|name| name.to_str());
        file.filter(|_| is_other).map(|file| OtherPage { event: event.name(), file })
    }

    /// Returns the path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns a new path in the working directory: `COMMAND-TIME.html`, with a number if that file exists.
pub fn default_page(command: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let stem = format!("{command}-{}", compact_utc(now));
    let named = |number: u32| match number {
        1 => PathBuf::from(format!("{stem}.html")),
        _ => PathBuf::from(format!("{stem}-{number}.html")),
    };
    let free = (1..=u32::MAX).map(named).find(|path| path.symlink_metadata().is_err());
    free.expect("there are more numbers than files")
}

/// Refuses any suffix but `.html`.
pub fn require_html(path: &Path) -> Result<(), UsageError> {
    if path.extension().is_some_and(|suffix| suffix == "html") {
        return Ok(());
    }
    Err(UsageError(format!("the output must be an .html file, not {}", path.display())))
}

fn unknown_suffix(path: &Path, allowed: &[(&str, ProfileFormat)]) -> UsageError {
    let allowed: Vec<&str> = allowed.iter().map(|&(suffix, _)| suffix).collect();
    let path: PathBuf = path.into();
    UsageError(format!(
        "the suffix of {} does not select a format; allowed suffixes: {}",
        path.display(),
        allowed.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_decides() {
        fn check(path: &str, expected: Option<ProfileFormat>) {
            assert_eq!(ProfileFormat::from_path(Path::new(path)), expected, "{path}");
        }
        check("a/b.html", Some(ProfileFormat::Html));
        check("b.pb.gz", Some(ProfileFormat::Pprof));
        check("b.folded", Some(ProfileFormat::Folded));
        check("b.svg", Some(ProfileFormat::Svg));
        check("b.gz", None);
        check("html", None);
        check("/", None);
        check("a.speedscope.json", Some(ProfileFormat::Speedscope));
        check("a.firefox.json", Some(ProfileFormat::Firefox));
        check("a.json", None);
        let no_text = Path::new(std::ffi::OsStr::from_bytes(b"p\xff.html"));
        assert_eq!(ProfileFormat::from_path(no_text), Some(ProfileFormat::Html));
    }
}
