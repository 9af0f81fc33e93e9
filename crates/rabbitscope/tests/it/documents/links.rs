//! The documents hold together: links lead somewhere, the index lists every page, and pages of tasks are short.

use std::{
    collections::BTreeSet,
    fs, iter,
    path::{Path, PathBuf},
};

use rabbitscope_testing::repository;

/// Maximum number of lines of a page in `docs/tasks`.
const TASK_LINES: usize = 80;

fn root() -> PathBuf {
    repository("").canonicalize().unwrap()
}

/// Returns the Markdown files in a folder and below it.
fn pages_below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut pages = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages.extend(pages_below(&path));
        } else if is_markdown(&path) {
            pages.insert(path);
        }
    }
    pages
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "md")
}

/// Reads a page without its fenced code, in which `#` and brackets have other meanings.
fn read_prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// Returns the targets of the links and pictures within this repository.
fn relative_links(prose: &str) -> Vec<&str> {
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target).filter(|target| !target.contains("://")).collect()
}

/// Returns the file of a link on this page, and its heading if it has one.
fn resolve<'a>(page: &Path, link: &'a str) -> (PathBuf, Option<&'a str>) {
    let (path, heading) = match link.split_once('#') {
        Some((path, heading)) => (path, Some(heading)),
        None => (link, None),
    };
    let folder = page.parent().unwrap();
    let file = if path.is_empty() { page.to_owned() } else { folder.join(path) };
    (file, heading)
}

/// Returns the anchors of all headings. Those that equal an earlier one have a number.
fn anchors(prose: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose.lines().filter(|line| line.starts_with('#')) {
        let plain = anchor(line.trim_start_matches('#').trim());
        let numbered = (1..).map(|number| format!("{plain}-{number}"));
        let mut names = iter::once(plain.clone()).chain(numbered);
        let unused = names.find(|name| !anchors.contains(name)).unwrap();
        anchors.insert(unused);
    }
    anchors
}

/// Returns the anchor of a heading by GitHub's rule: small letters, no punctuation, hyphens in place of spaces.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter));
    let hyphened = kept.map(|letter| if letter == ' ' { '-' } else { letter });
    hyphened.flat_map(char::to_lowercase).collect()
}

/// Returns the links of a page that lead nowhere.
fn broken_links(page: &Path) -> Vec<String> {
    let prose = read_prose(page);
    let is_broken = |link: &&str| {
        let (file, heading) = resolve(page, link);
        let has = |heading: &str| anchors(&read_prose(&file)).contains(heading);
        !file.exists() || heading.is_some_and(|heading| !has(heading))
    };
    let broken = relative_links(&prose).into_iter().filter(is_broken);
    broken.map(|link| format!("{}: {link}", page.display())).collect()
}

#[test]
fn an_anchor_is_made_by_githubs_rule() {
    fn check(heading: &str, expected: &str) {
        assert_eq!(anchor(heading), expected);
    }
    check("Linux 6.1", "linux-61");
    check("`[broker]` and its keys", "broker-and-its-keys");
    check("`series.jsonl`", "seriesjsonl");
    check("Up to 1 MiB, run-wide", "up-to-1-mib-run-wide");
    let twice = anchors("# Page\n\n## Method\n\n## Method\n");
    assert!(twice.contains("method") && twice.contains("method-1"), "{twice:?}");
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let root = root();
    let mut pages = pages_below(&root.join("docs"));
    pages.insert(root.join("README.md"));
    assert!(pages.len() > 20, "{pages:?}");
    let broken: Vec<String> = pages.iter().flat_map(|page| broken_links(page)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_index_lists_every_page() {
    let docs = root().join("docs");
    let index = docs.join("README.md");
    let prose = read_prose(&index);
    let linked = relative_links(&prose).into_iter().map(|link| resolve(&index, link).0);
    let mut listed: BTreeSet<PathBuf> =
        linked.filter_map(|path| path.canonicalize().ok()).collect();
    listed.insert(index);
    let pages = pages_below(&docs);
    let unlisted: Vec<&PathBuf> = pages.difference(&listed).collect();
    assert!(unlisted.is_empty(), "docs/README.md does not list {unlisted:#?}");
}

#[test]
fn pages_of_tasks_are_short() {
    let pages = pages_below(&root().join("docs/tasks"));
    assert!(!pages.is_empty());
    for page in pages {
        let lines = fs::read_to_string(&page).unwrap().lines().count();
        assert!(lines <= TASK_LINES, "{} has {lines} lines", page.display());
    }
}
