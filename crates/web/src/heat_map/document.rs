//! The page, and the shade of a cell.

use std::{
    io::{self, Write},
    time::Duration,
};

use rabbitscope_text::display_utc;

use super::cells::{BusyWindow, Cell, Cells, HOUR, NodeCells};
use crate::escape::Markup;

const STYLE: &str = include_str!("style.css");

/// Steps of the colour scale.
const SHADES: u32 = 10;

const LEFT: u64 = 84;
const TOP: u64 = 22;
const WIDTH: u64 = 960;
const ROW: u64 = 16;
const MINUTES: [u64; 7] = [0, 10, 20, 30, 40, 50, 60];

/// Writes the heat map of these windows, which may be in any order.
pub fn write_heat_map(mut out: impl Write, windows: &[BusyWindow]) -> io::Result<()> {
    let cells = Cells::from_windows(windows);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>CPU of nodes by time</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>CPU of nodes by time</h1>\n",
    )?;
    legend(&mut out, &cells)?;
    cells.nodes.iter().try_for_each(|(name, node)| section(&mut out, name, node, &cells))?;
    write!(out, "</body>\n</html>\n")?;
    out.flush()
}

fn legend(out: &mut impl Write, cells: &Cells) -> io::Result<()> {
    writeln!(
        out,
        "<p class=\"soft\">A row is an hour (UTC), a cell {} s. Without a cell, the node was not recorded.</p>",
        cells.seconds
    )?;
    write!(out, "<p class=\"key\">0 ")?;
    (0..SHADES).try_for_each(|shade| write!(out, "<i class=\"s{shade}\"></i>"))?;
    writeln!(out, " {:.2} cores</p>", cells.most_cores)
}

fn section(out: &mut impl Write, name: &str, node: &NodeCells, cells: &Cells) -> io::Result<()> {
    let hours = node.hours();
    let height = TOP + hours.len() as u64 * ROW + 4;
    let name = if name.is_empty() { "a node without a name" } else { name };
    writeln!(
        out,
        "<h2>{name} <span class=\"soft\">{:.2} cores on average</span></h2>\n<div class=\"scroll\">\
         <svg viewBox=\"0 0 {} {height}\" role=\"img\" aria-label=\"CPU of {name}, a row for each hour\">",
        node.mean_cores(),
        LEFT + WIDTH + 12,
        name = Markup(name),
    )?;
    for minute in MINUTES {
        let x = LEFT + minute * WIDTH / 60;
        writeln!(out, "<text x=\"{x}\" y=\"14\" text-anchor=\"middle\">:{minute:02}</text>")?;
    }
    for (row, &hour) in (0..).zip(&hours) {
        let y = TOP + row * ROW;
        let time = display_utc(Duration::from_secs(hour * HOUR)).to_string();
        // Omits the year and the seconds: `11-25 04:00`.
        let (day, clock) = (&time[5..10], &time[11..16]);
        writeln!(out, "<text x=\"0\" y=\"{}\">{day} {clock}</text>", y + ROW - 4)?;
        for (start, cell) in node.of_hour(hour) {
            draw(out, (start, y), cell, cells)?;
        }
    }
    writeln!(out, "</svg></div>")
}

fn draw(out: &mut impl Write, (start, y): (u64, u64), cell: Cell, cells: &Cells) -> io::Result<()> {
    let place = |seconds: u64| LEFT as f64 + (seconds * WIDTH) as f64 / HOUR as f64;
    let x = place(start % HOUR);
    let width = place(start % HOUR + cells.seconds) - x;
    writeln!(
        out,
        "<rect class=\"s{}\" x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\"><title>{}: {:.2} cores</title></rect>",
        shade(cell.cores(), cells.most_cores),
        ROW - 1,
        display_utc(Duration::from_secs(start)),
        cell.cores(),
    )
}

/// Returns the step of the scale from nothing to `most`.
fn shade(cores: f64, most: f64) -> u32 {
    let steps: Vec<u32> = (1..SHADES).collect();
    let is_reached =
        |step: &&u32| cores > 0.0 && cores >= most * f64::from(**step) / f64::from(SHADES);
    steps.iter().rev().find(is_reached).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_cell_for_a_window_and_no_markup_of_others() {
        let window = BusyWindow {
            node: "<b>@h".to_owned(),
            started: Duration::from_secs(1_795_580_310),
            length: Duration::from_secs(10),
            cpu: Duration::from_secs(15),
        };
        let mut page = Vec::new();
        write_heat_map(&mut page, &[window]).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("<title>2026-11-25T04:18:30Z: 1.50 cores</title>"), "{page}");
        assert!(
            page.contains("11-25 04:00") && page.contains("&lt;b&gt;@h") && !page.contains("<b>")
        );
    }

    #[test]
    fn shades_go_from_nothing_to_the_most() {
        let shades = [0.0, 0.05, 0.1, 0.95, 1.0].map(|cores| shade(cores, 1.0));
        assert_eq!(shades, [0, 0, 1, 9, 9]);
        assert_eq!(shade(0.0, 0.0), 0);
    }
}
