//! Sizes of files, folders and functions, and one style of module files.

use std::{collections::BTreeMap, path::Path};

use super::modules::CRATES;

const MAX_LINES_OF_A_FILE: usize = 400;
const MAX_FILES_OF_A_FOLDER: usize = 15;
const MEDIAN_LINES_OF_A_FUNCTION: usize = 8;
const LINES_OF_MOST_FUNCTIONS: usize = 35;
const MAX_LINES_OF_A_FUNCTION: usize = 60;

#[test]
fn files_and_folders_are_small() {
    let mut faults = Vec::new();
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for (_, source) in CRATES.iter() {
        for module in source.modules() {
            if module.lines > MAX_LINES_OF_A_FILE {
                faults.push(format!("{} has {} lines", module.file.display(), module.lines));
            }
            if !is_facade(&module.file) {
                let folder = module.file.parent().unwrap().display().to_string();
                *folders.entry(folder).or_default() += 1;
            }
        }
    }
    let full = folders.iter().filter(|(_, files)| **files > MAX_FILES_OF_A_FOLDER);
    faults.extend(full.map(|(folder, files)| format!("{folder} has {files} source files")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn is_facade(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs")
}

/// A folder's `mod.rs` holds documentation, modules and re-exports. No file is beside its own folder.
#[test]
fn module_files_have_one_style() {
    let mut faults = Vec::new();
    for (_, source) in CRATES.iter() {
        for module in source.modules() {
            if module.file.ends_with("mod.rs") && module.has_logic {
                faults.push(format!("{} has more than modules", module.file.display()));
            }
            if !is_facade(&module.file) && module.file.with_extension("").is_dir() {
                faults.push(format!("{} stands beside its folder", module.file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn functions_are_short() {
    let mut functions: Vec<(usize, String)> = Vec::new();
    for (_, source) in CRATES.iter() {
        for module in source.modules() {
            let place = |name| format!("{name} in {}", module.file.display());
            functions.extend(module.functions.iter().map(|(lines, name)| (*lines, place(name))));
        }
    }
    functions.sort_unstable();
    let lines = |share: usize| functions[(functions.len() - 1) * share / 100].0;
    let (median, most) = (lines(50), lines(95));
    let (longest, name) = functions.last().unwrap();
    assert!(
        median <= MEDIAN_LINES_OF_A_FUNCTION
            && most <= LINES_OF_MOST_FUNCTIONS
            && *longest <= MAX_LINES_OF_A_FUNCTION,
        "of {} functions the median has {median} lines, 95 % at most {most}, the longest {longest}: {name}",
        functions.len()
    );
}
