//! Builds the page from `ui/` with npm, in a copy inside `OUT_DIR`. The sources stay unchanged, and several builds can
//! run at once. Leaves `ui/dist/page.js`, `page.css`, `live.js` and `svg.js` there.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

const OLDEST_NODE: u32 = 18;
const INSTALL: &str = "on Debian: apt-get install nodejs npm";

/// The sources of the page, relative to `ui/`.
const SOURCES: [&str; 7] =
    ["src", "test", "package.json", "package-lock.json", ".npmrc", "tsconfig.json", "build.mjs"];

fn main() -> ExitCode {
    match build_page() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("cargo::error={problem}");
            ExitCode::FAILURE
        }
    }
}

fn build_page() -> Result<(), String> {
    let variable = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("{name} is not set"));
    let ui = variable("CARGO_MANIFEST_DIR")?.join("../../ui");
    let work = variable("OUT_DIR")?.join("ui");
    println!("cargo::rerun-if-changed=build.rs");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", ui.join(source).display());
    }
    check_node()?;
    copy_sources(&ui, &work).map_err(|error| format!("cannot copy ui/ to OUT_DIR: {error}"))?;
    install_packages(&work)?;
    npm(&work, &["run", "--silent", "build"])
}

fn check_node() -> Result<(), String> {
    let version = output_of("node", "--version")?;
    let major =
        version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    if major.is_none_or(|major: u32| major < OLDEST_NODE) {
        return Err(format!(
            "the page needs Node.js {OLDEST_NODE} or later, but `node` is {version}; {INSTALL}"
        ));
    }
    output_of("npm", "--version").map(drop)
}

fn output_of(program: &str, argument: &str) -> Result<String, String> {
    Command::new(program)
        .arg(argument)
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .map_err(|error| {
            format!("the page is built with Node.js {OLDEST_NODE} or later and npm, but `{program}` cannot be run ({error}); {INSTALL}")
        })
}

fn copy_sources(ui: &Path, work: &Path) -> io::Result<()> {
    fs::create_dir_all(work)?;
    for folder in ["src", "test"] {
        match fs::remove_dir_all(work.join(folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    SOURCES.iter().try_for_each(|source| copy(&ui.join(source), &work.join(source)))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Runs `npm ci`, unless the packages of exactly this lock file are installed.
fn install_packages(work: &Path) -> Result<(), String> {
    let read = |name: &str| fs::read(work.join(name)).ok();
    let installed = "node_modules/.installed-lock.json";
    let lock = read("package-lock.json");
    if lock.is_some() && lock == read(installed) {
        return Ok(());
    }
    npm(work, &["ci", "--include=dev", "--no-audit", "--no-fund", "--prefer-offline"])?;
    fs::copy(work.join("package-lock.json"), work.join(installed))
        .map(drop)
        .map_err(|error| format!("cannot write {installed}: {error}"))
}

fn npm(work: &Path, arguments: &[&str]) -> Result<(), String> {
    let command = format!("npm {}", arguments.join(" "));
    let output = Command::new("npm")
        .args(arguments)
        .current_dir(work)
        .output()
        .map_err(|error| format!("`{command}` cannot be run: {error}; {INSTALL}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).trim().replace('\n', " | ");
    Err(format!("`{command}` failed in {} ({}): {said}", work.display(), output.status))
}
