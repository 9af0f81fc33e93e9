//! Functions of a file without symbols: their starts, and their names if this build is known.

use std::fs::File;

use rabbitscope_profiles::source_name;

use super::{
    debug_file::build_id_of, function_starts::FunctionStarts, known_builds::KnownBuild,
    native_name::NativeName,
};

/// Facts about a file without symbols.
#[derive(Debug)]
pub(super) struct StrippedCode {
    starts: FunctionStarts,
    names: Option<KnownBuild>,
}

impl StrippedCode {
    /// Reads the facts about `file`.
    pub(super) fn read(file: &File) -> Self {
        let names = build_id_of(file).and_then(|id| KnownBuild::with_id(&id));
        Self { starts: FunctionStarts::read(file), names }
    }

    /// The start of the function with the code at `offset`. Both are offsets in the file.
    pub(super) fn start(&self, offset: u64) -> Option<u64> {
        self.starts.at(offset).map(|start| start.offset)
    }

    /// The name in this build's table of the function at an offset in the file.
    pub(super) fn name(&self, offset: u64) -> Option<String> {
        let start = self.starts.at(offset)?;
        self.names.as_ref()?.at(start.address).map(in_source)
    }

    /// The replacement for a function's name: the file at `path`, and the offset of the function's start.
    pub(super) fn nameless(&self, path: &str, offset: u64) -> NativeName {
        NativeName::unknown_in(path, self.start(offset).unwrap_or(offset))
    }
}

/// The name without the compiler's suffixes. The mark of an inferred name stays.
fn in_source(name: &str) -> String {
    match name.strip_suffix('?') {
        Some(inferred) => format!("{}?", source_name(inferred)),
        None => source_name(name).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_source;

    #[test]
    fn suffixes_of_the_compiler_go_and_the_mark_stays() {
        assert_eq!(in_source("sweep.isra.0"), "sweep");
        assert_eq!(in_source("do_minor.constprop.0?"), "do_minor?");
        assert_eq!(in_source("ets_select2?"), "ets_select2?");
    }
}
