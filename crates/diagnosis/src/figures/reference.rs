//! The page that lists all figures, written from their table.

use std::{env, fmt::Write, fs, path::Path};

use super::{METRICS, Metric};

const HEAD: &str = "# Figures of `check`

`check --json` has these figures under `figures.values`, by name. A figure is absent if its source was not read, or if
there were too few events: 50 for a median, 1,000 for a 99th percentile, 10 messages a second for a cost. `--baseline`
calls a figure different if it changed by its threshold and by the least change, and more than chance explains if the
figure comes from counts.

`make reference` writes this page from the table of figures.

| figure | meaning | unit | threshold | least change |
| --- | --- | --- | --- | --- |
";

const TAIL: &str = "
## Lists

Each has at most 50 rows, the largest first.

| list | row |
| --- | --- |
| `threads` | `kind`, `cores`, `samples` |
| `functions` | `name`, `share` of the node's CPU time in the function itself, `samples` |
| `processes` | `role`, `name`, `vhost`, `cores`, `samples` |
| `clients` | `name`, or `user` of connections without one; `connections`, `channels`, `consumers`, `unacknowledged`; `published`, `delivered`, `acknowledged`, `got`, `empty-gets` per second |

`samples` is the number of all samples. `has-all-clients` is true if every connection and channel is in a row.
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for Metric { id, variation, least, .. } in METRICS {
        let threshold = format!("{:.0} %", variation.threshold() * 100.0);
        let least = id.unit.display(*least);
        let _ = writeln!(
            page,
            "| {} | {} | {} | {threshold} | {least} |",
            id.name,
            id.title,
            id.unit.name()
        );
    }
    page + TAIL
}

/// `make reference` writes the page instead of comparing it.
#[test]
fn the_page_of_figures_is_their_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/figures.md");
    let page = page();
    if env::var_os("RABBITSCOPE_WRITE_REFERENCE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "figures.md is older than the figures: run `make reference`");
}
