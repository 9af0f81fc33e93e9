//! Latency against load, as one HTML page with a drawing and its table.

use rabbitscope_text::{display_duration, short_time};
use std::io::{self, Write};
use std::time::Duration;

use rabbitscope_runs::capacity::{Capacity, CapacityStep, StepVerdict};

use crate::escape::Markup;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 46.0;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#14171a;--soft:#5a616a;--line:#d8dbdf;--back:#fff;\
--a:#2469c8;--b:#b25d00;--c:#8a3ab9;--bad:#c0273b}\
@media (prefers-color-scheme:dark){:root{--ink:#f3f4f5;--soft:#a0a8b1;--line:#3a4048;--back:#1b1e22;\
--a:#6ea8ff;--b:#f0a04b;--c:#c48cf0;--bad:#ff7a88}}\
body{margin:0 auto;padding:20px;max-width:1000px;background:var(--back);color:var(--ink);\
font:15px/1.45 system-ui,sans-serif}h1{font-size:22px;margin:0 0 4px}p{margin:4px 0 14px}\
.soft{color:var(--soft)}svg{width:100%;height:auto;font:12px system-ui,sans-serif}\
svg text{fill:var(--soft)}.grid{stroke:var(--line)}.p50{--hue:var(--a)}.p99{--hue:var(--b)}\
.p999{--hue:var(--c)}path{fill:none;stroke:var(--hue);stroke-width:2}\
circle{fill:var(--hue);stroke:var(--back)}circle.failed{fill:var(--back);stroke:var(--hue);stroke-width:2}\
.spread{fill:var(--bad);opacity:.15}.limit{stroke:var(--bad);stroke-dasharray:5 4}.scroll{overflow-x:auto}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
td,th{text-align:right;padding:4px 10px;border-bottom:1px solid var(--line);white-space:nowrap}\
td:last-child,th:last-child{text-align:left;white-space:normal;min-width:16em}.key span{margin-right:18px}\
.key i{display:inline-block;width:14px;height:3px;margin-right:6px;vertical-align:middle;background:var(--hue)}";

/// One line of the drawing.
struct Line {
    class: &'static str,
    name: &'static str,
    value: fn(&CapacityStep) -> Option<u64>,
}

const LINES: [Line; 3] = [
    Line { class: "p50", name: "p50", value: |step| step.p50 },
    Line { class: "p99", name: "p99", value: |step| step.p99 },
    Line { class: "p999", name: "p99.9", value: |step| step.p999 },
];

/// Writes the page.
pub fn write_curve(mut out: impl Write, capacity: &Capacity) -> io::Result<()> {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<title>{name}: latency against load</title>\n<style>{STYLE}</style>\n\
         </head>\n<body>\n<h1>{name}: latency against load</h1>\n<p>{}</p>\n\
         <p class=\"soft\">{} · {}</p>\n",
        Markup(&capacity.sentence),
        Markup(&capacity.broker),
        Markup(&capacity.limits.join(", ")),
        name = Markup(&capacity.name),
    )?;
    let mut steps: Vec<&CapacityStep> = capacity.steps.iter().collect();
    steps.sort_by(|one, other| one.offered.total_cmp(&other.offered));
    let latency = steps.first().map_or("", |step| step.latency.as_str());
    write!(out, "<p class=\"key\"><span>{} latency, log scale:</span>", Markup(latency))?;
    for line in &LINES {
        write!(out, "<span class=\"{}\"><i></i>{}</span>", line.class, line.name)?;
    }
    writeln!(
        out,
        "<span class=\"soft\">hollow: did not pass; invalid steps are in the table only</span></p>"
    )?;
    if let Some(frame) = Frame::around(&steps) {
        draw(&mut out, &frame, &steps, capacity)?;
    }
    table(&mut out, &steps)?;
    write!(out, "</body>\n</html>\n")?;
    out.flush()
}

/// Maps rates and latencies to places.
struct Frame {
    most: f64,
    /// Exponents of powers of ten, in nanoseconds.
    decades: (i32, i32),
}

impl Frame {
    #[expect(clippy::cast_possible_truncation, reason = "logarithms of times are small")]
    fn around(steps: &[&CapacityStep]) -> Option<Self> {
        let values =
            || steps.iter().flat_map(|step| LINES.iter().filter_map(|line| (line.value)(step)));
        let low = (values().min()?.max(1) as f64).log10().floor() as i32;
        let high = (values().max()?.max(1) as f64).log10().ceil() as i32;
        let most = steps.iter().map(|step| step.offered).fold(0.0, f64::max);
        Some(Self { most: most.max(1.0) * 1.04, decades: (low, high.max(low + 1)) })
    }

    fn x(&self, rate: f64) -> f64 {
        LEFT + rate / self.most * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, nanos: f64) -> f64 {
        let (low, high) = (f64::from(self.decades.0), f64::from(self.decades.1));
        let share = (nanos.max(1.0).log10() - low) / (high - low);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }
}

fn draw(
    out: &mut impl Write,
    frame: &Frame,
    steps: &[&CapacityStep],
    capacity: &Capacity,
) -> io::Result<()> {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Latency against the rate \
         that was offered; the table below has the figures\">"
    )?;
    for decade in frame.decades.0..=frame.decades.1 {
        let y = frame.y(10_f64.powi(decade));
        writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            display_duration(Duration::from_nanos(10_u64.pow(decade.unsigned_abs()))),
        )?;
    }
    let parts = [(0.0, "start"), (0.25, "middle"), (0.5, "middle"), (0.75, "middle"), (1.0, "end")];
    for (part, anchor) in parts {
        let rate = frame.most * part;
        let (x, y) = (frame.x(rate), bottom + 18.0);
        writeln!(out, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{rate:.0}</text>")?;
    }
    let (middle, y) = (f64::midpoint(LEFT, right), HEIGHT - 8.0);
    writeln!(
        out,
        "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">offered, messages/s</text>"
    )?;
    if let Some(spread) = capacity.spread {
        let (x, end) = (frame.x(spread.low), frame.x(spread.high));
        writeln!(
            out,
            "<rect class=\"spread\" x=\"{x:.1}\" width=\"{:.1}\" y=\"{TOP}\" height=\"{}\"/>",
            end - x,
            bottom - TOP
        )?;
    }
    if let Some(rate) = capacity.rate {
        let x = frame.x(rate);
        writeln!(
            out,
            "<line class=\"limit\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>"
        )?;
    }
    LINES.iter().try_for_each(|line| draw_line(out, frame, line, steps))?;
    writeln!(out, "</svg>")
}

fn draw_line(
    out: &mut impl Write,
    frame: &Frame,
    line: &Line,
    steps: &[&CapacityStep],
) -> io::Result<()> {
    let points = steps.iter().filter(|step| step.verdict.is_valid()).filter_map(|step| {
        let nanos = (line.value)(step)?;
        Some((frame.x(step.offered), frame.y(nanos as f64), *step, nanos))
    });
    let points: Vec<_> = points.collect();
    let path: Vec<_> = points.iter().map(|(x, y, ..)| format!("{x:.1},{y:.1}")).collect();
    writeln!(out, "<g class=\"{}\"><path d=\"M{}\"/>", line.class, path.join("L"))?;
    for (x, y, step, nanos) in points {
        let passed = if step.verdict == StepVerdict::Passed { "passed" } else { "failed" };
        writeln!(
            out,
            "<circle class=\"{passed}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{} {} at {:.0}/s\
             </title></circle>",
            line.name,
            short_time(nanos),
            step.offered,
        )?;
    }
    writeln!(out, "</g>")
}

fn table(out: &mut impl Write, steps: &[&CapacityStep]) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th>offered/s</th><th>achieved/s</th><th>p50</th>\
         <th>p99</th><th>p99.9</th><th>backlog growth/s</th><th>verdict</th></tr></thead><tbody>"
    )?;
    for step in steps {
        write!(out, "<tr><td>{:.0}</td><td>{:.0}</td>", step.offered, step.achieved)?;
        for line in &LINES {
            let text = (line.value)(step).map_or("–".to_owned(), short_time);
            write!(out, "<td>{text}</td>")?;
        }
        let verdict = match step.verdict {
            StepVerdict::Passed => "passed".to_owned(),
            _ => step.reasons.join("; "),
        };
        let growth = step.backlog_growth.max(0.0);
        writeln!(out, "<td>{growth:.0}</td><td>{}</td></tr>", Markup(&verdict))?;
    }
    writeln!(out, "</tbody></table></div>")
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::capacity::RateSpread;

    use super::*;

    fn step(offered: f64, nanos: Option<u64>, verdict: StepVerdict) -> CapacityStep {
        CapacityStep {
            offered,
            latency: "confirm-intended".to_owned(),
            p50: nanos,
            p99: nanos.map(|nanos| 10 * nanos),
            verdict,
            reasons: vec!["a < b".to_owned()],
            ..CapacityStep::default()
        }
    }

    fn page(steps: Vec<CapacityStep>) -> String {
        let capacity = Capacity { name: "x & y".to_owned(), steps, ..Capacity::default() };
        let mut out = Vec::new();
        write_curve(&mut out, &capacity).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_step_is_drawn_and_listed() {
        let page = page(vec![
            step(2000.0, Some(9_000_000), StepVerdict::Failed),
            step(1000.0, Some(800_000), StepVerdict::Passed),
        ]);
        assert_eq!(page.matches("<circle").count(), 4);
        assert_eq!(page.matches("class=\"failed\"").count(), 2);
        assert!(page.contains("x &amp; y") && page.contains("a &lt; b"));
        let (first, second) = (page.find("<td>1000</td>"), page.find("<td>2000</td>"));
        assert!(first < second, "in the order of the rates");
    }

    #[test]
    fn the_spread_is_drawn_and_what_is_not_valid_is_not() {
        let spread = RateSpread { low: 1000.0, high: 1100.0, crossings: 7, share: 0.1 };
        let steps = vec![
            step(1000.0, Some(800_000), StepVerdict::Passed),
            step(1100.0, Some(9_000_000), StepVerdict::Stalled),
        ];
        let spread = Some(spread);
        let capacity = Capacity { steps, spread, rate: Some(1050.0), ..Capacity::default() };
        let mut out = Vec::new();
        write_curve(&mut out, &capacity).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(
            page.contains("<rect class=\"spread\"") && page.contains("<td>1100</td>"),
            "{page}"
        );
        assert_eq!(page.matches("<circle").count(), 2);
    }

    #[test]
    fn nothing_measured_is_a_page_too() {
        let page = page(vec![step(1000.0, None, StepVerdict::Failed)]);
        assert!(!page.contains("<svg") && page.contains("<td>–</td>"));
    }
}
