//! The input files of a profile. The beginning of a file decides its format, also inside compression. The name counts
//! only if the beginning is inconclusive.

use std::{
    fs::File,
    io::{BufRead, BufReader, Cursor, Read, Seek},
    path::Path,
    time::SystemTime,
};

use anyhow::Context;
use flate2::bufread::MultiGzDecoder;
use rabbitscope_files::input;
use rabbitscope_probe::RecordedNames;
use rabbitscope_profiles::{
    Profile, ReadOptions, UnknownValue, is_perf_script, read_folded_with, read_perf_data_with,
    read_perf_script_with, read_pprof_with,
};
use rabbitscope_terminal::UsageError;
use rabbitscope_web::{is_page, read_page_with};

use crate::{archive, format::ProfileFormat, rundir};

/// Number of bytes by which a file is recognised.
const START: usize = 64 << 10;

/// Reads a profile from a run directory, from windows of `watch`, or from a file in any known format.
pub fn read_profile(place: &Path, options: ReadOptions<'_>) -> anyhow::Result<Profile> {
    let (place, selection) = archive::split_selection(place)?;
    if archive::is_archive(&place) || !selection.is_everything() {
        if let Some(asked) = options.value {
            return Err(UnknownValue { asked: asked.to_owned(), known: Vec::new() }.into());
        }
        return archive::sum(&place, &selection, options.limit_bytes);
    }
    let path = if place.is_dir() { rundir::profile_path(&place)? } else { place };
    // The file may have any length; memory is limited by the readers.
    let file = input::open(&path, u64::MAX)?;
    read_file(file, &path, options).with_context(|| format!("cannot read {}", path.display()))
}

fn read_file(file: File, path: &Path, options: ReadOptions<'_>) -> anyhow::Result<Profile> {
    let recorded = file.metadata()?.modified().ok();
    let mut input = BufReader::with_capacity(START, file);
    let start = input.fill_buf()?;
    if !is_gzip(start) {
        let source = Source::detect(start, path).ok_or_else(unknown_input)?;
        return match source {
            Source::PerfData => {
                let mut file: File = input.into_inner();
                file.rewind()?;
                read_recording(file, recorded, options)
            }
            source => read_text(source, input, options),
        };
    }
    let mut unpacked = BufReader::with_capacity(START, MultiGzDecoder::new(input));
    let start = filled(&mut unpacked)?;
    match Source::inside(&start, path) {
        Source::PerfData => {
            let bytes = bounded(Cursor::new(start).chain(unpacked), options.limit_bytes)?;
            read_recording(Cursor::new(bytes), recorded, options)
        }
        source => {
            let input = BufReader::new(Cursor::new(start).chain(unpacked));
            read_text(source, input, options)
        }
    }
}

/// Returns the beginning of decompressed data. It reads repeatedly, because a decoder returns a little at a time.
fn filled(input: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    input.by_ref().take(START as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Reads a recording into memory, which is necessary for reads at several positions.
fn bounded(input: impl Read, limit_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes {
        let limit = rabbitscope_text::display_size(limit_bytes);
        anyhow::bail!(
            "it has more than {limit} after decompression; --max-size sets a higher limit"
        );
    }
    Ok(bytes)
}

fn read_text(
    source: Source,
    input: impl BufRead,
    options: ReadOptions<'_>,
) -> anyhow::Result<Profile> {
    Ok(match source {
        Source::PerfScript => read_perf_script_with(input, options)?,
        Source::Folded => read_folded_with(input, options)?,
        Source::Page => read_page_with(input, options)?,
        Source::Pprof | Source::PerfData => read_pprof_with(input, options)?,
    })
}

fn read_recording(
    input: impl Read + Seek,
    recorded: Option<SystemTime>,
    options: ReadOptions<'_>,
) -> anyhow::Result<Profile> {
    let mut names = RecordedNames::new(recorded);
    let mut profile = read_perf_data_with(input, &mut names, options)?;
    let changed = names.changed_files();
    if !changed.is_empty() {
        profile.capture.notes.push(format!(
            "Files are missing or changed since the recording, so their functions have no names: {}.",
            changed.join(", ")
        ));
    }
    if names.is_other_kernel() {
        profile.capture.notes.push(
            "The recording is from another kernel than the running one; its functions have no names."
                .to_owned(),
        );
    }
    Ok(profile)
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Pprof,
    PerfData,
    PerfScript,
    Folded,
    Page,
}

impl Source {
    fn detect(start: &[u8], path: &Path) -> Option<Self> {
        if let Some(known) = Self::by_content(start) {
            return Some(known);
        }
        let name = path.file_name()?.to_string_lossy();
        let is = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
        match ProfileFormat::from_path(path) {
            Some(ProfileFormat::Pprof) => return Some(Self::Pprof),
            Some(ProfileFormat::Folded) => return Some(Self::Folded),
            Some(_) => return None,
            None => {}
        }
        if is(&[".pb", ".pprof"]) {
            Some(Self::Pprof)
        } else if is(&[".data"]) {
            Some(Self::PerfData)
        } else if is(&[".script"]) {
            Some(Self::PerfScript)
        } else if is(&[".collapsed", ".txt"]) {
            Some(Self::Folded)
        } else {
            None
        }
    }

    /// Recognises the contents of a compressed file. Pprof is always compressed, and its contents match no
    /// other format.
    fn inside(start: &[u8], path: &Path) -> Self {
        let bare = path.with_extension("");
        Self::by_content(start)
            .or_else(|| Self::detect(start, &bare).filter(|source| *source != Self::PerfData))
            .unwrap_or(Self::Pprof)
    }

    fn by_content(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"PERFILE2") || start.starts_with(b"2ELIFREP") {
            Some(Self::PerfData)
        } else if start.contains(&0) {
            None
        } else if is_page(start) {
            Some(Self::Page)
        } else if is_perf_script(start) {
            Some(Self::PerfScript)
        } else {
            is_folded(start).then_some(Self::Folded)
        }
    }
}

fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(&[0x1f, 0x8b])
}

/// Returns whether the first line ends in a space and a number, as in folded stacks.
fn is_folded(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let line = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let count = line.and_then(|line| line.trim_end().rsplit_once(' ')).map(|(_, count)| count);
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    count.is_some_and(|count| !count.starts_with('.') && count.bytes().all(is_digit))
}

fn unknown_input() -> UsageError {
    UsageError(
        "it is not a supported profile: a run directory, pprof (.pb.gz), folded stacks (.folded), perf.data, the text \
         of `perf script`, or a page of rabbitscope (.html)"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_tells_what_a_file_holds() {
        fn check(start: &[u8], path: &str, expected: Option<Source>) {
            assert_eq!(Source::detect(start, Path::new(path)), expected, "{path}");
        }
        check(b"PERFILE2....", "x", Some(Source::PerfData));
        check(b"", "perf.data", Some(Source::PerfData));
        check(b"x 1 1.5: 1 cycles: \n", "x", Some(Source::PerfScript));
        check(b"x 1 1.5: 1 cycles: \n", "x.folded", Some(Source::PerfScript));
        check(b"a;b 12\n", "x", Some(Source::Folded));
        for name in ["x.txt", "x.data", "x.script", "x.pb.gz", "x.collapsed"] {
            check(b"a;b 12\n", name, Some(Source::Folded));
            check(b"a;;b 12.5\n", name, Some(Source::Folded));
        }
        check(b"\x0a\x04\x08\x01\x10\x02", "x.pb", Some(Source::Pprof));
        let page = b"<!doctype html>\n<script type=\"application/json\" id=\"data\">{}</script>";
        check(page, "x.html", Some(Source::Page));
        check(b"<!doctype html>\n<p>", "x.html", None);
        check(b"", "x.svg", None);
        check(b"\x7fELF\0", "x", None);
    }

    #[test]
    fn compression_hides_nothing() {
        fn check(start: &[u8], path: &str, expected: Source) {
            assert_eq!(Source::inside(start, Path::new(path)), expected, "{path}");
        }
        check(b"a;b 12\n", "x.folded.gz", Source::Folded);
        check(b"a;b 12\n", "x.pb.gz", Source::Folded);
        check(b"x 1 1.5: 1 cycles: \n", "x.gz", Source::PerfScript);
        check(b"PERFILE2", "perf.data.gz", Source::PerfData);
        check(b"\x0a\x04\x08\x01\x10\x02", "x.pb.gz", Source::Pprof);
        check(b"\x0a\x04\x08\x01\x10\x02", "profile", Source::Pprof);
        check(b"", "x.folded.gz", Source::Folded);
    }
}
