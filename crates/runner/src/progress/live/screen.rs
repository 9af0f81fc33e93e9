//! The layout of the live view.

use std::time::Duration;

use rabbitscope_runs::record::SecondRow;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Style, Stylize},
    text::{Line, Span},
    widgets::{Paragraph, Sparkline},
};

use super::figures::{Figure, figures};
use rabbitscope_text::escapes;

const NAME: u16 = 20;
const VALUE: u16 = 12;
const DETAIL: u16 = 32;

/// The lines above the figures.
#[derive(Clone, Debug, Default)]
pub struct RunHeader {
    /// Name of the scenario.
    pub name: String,
    /// The broker, without credentials.
    pub broker: String,
    /// Length of the load, if it is limited.
    pub duration: Option<Duration>,
    /// Before the load starts: the number of open connections, and the final number.
    pub connecting: Option<(usize, usize)>,
    /// The latest notice.
    pub notice: Option<String>,
    /// True once the user has asked for an early end.
    pub is_ending: bool,
}

pub(super) fn draw(frame: &mut Frame<'_>, head: &RunHeader, rows: &[SecondRow]) {
    let [title, time, notice, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let broker = Span::from(format!("  {}", escapes::value(&head.broker))).dim();
    frame.render_widget(
        Line::from(vec![Span::from(escapes::value(&head.name)).bold(), broker]),
        title,
    );
    frame.render_widget(Line::from(time_text(head, rows)), time);
    if let Some(text) = &head.notice {
        frame.render_widget(Line::from(escapes::value(text)).fg(Color::Yellow), notice);
    }
    let figures = figures(rows);
    for (figure, at) in figures.iter().zip(0..body.height) {
        draw_figure(frame, figure, Rect { y: body.y + at, height: 1, ..body });
    }
    let keys =
        if head.is_ending { "ending; q again: end immediately" } else { "q: end the run early" };
    frame.render_widget(Line::from(keys).dim(), foot);
}

fn time_text(head: &RunHeader, rows: &[SecondRow]) -> String {
    if let Some((done, of)) = head.connecting {
        return format!("connecting: {done} of {of}");
    }
    let Some(last) = rows.last() else { return "starting".to_owned() };
    let passed = u64::from(last.second) + 1;
    let stage = match (last.draining, last.warming) {
        (true, _) => ", awaiting the rest",
        (_, true) => ", warming up",
        _ => "",
    };
    match head.duration {
        Some(whole) => {
            let left = whole.as_secs().saturating_sub(passed);
            format!("{passed} of {} s, {left} s left{stage}", whole.as_secs())
        }
        None => format!("{passed} s{stage}"),
    }
}

/// Draws name, value, words, and a curve in the remaining width. A narrow terminal loses the words first.
fn draw_figure(frame: &mut Frame<'_>, figure: &Figure, area: Rect) {
    let detail = if area.width >= NAME + VALUE + DETAIL + 10 { DETAIL } else { 0 };
    let [name, value, words, curve] = Layout::horizontal([
        Constraint::Length(NAME),
        Constraint::Length(VALUE),
        Constraint::Length(detail),
        Constraint::Min(0),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(figure.name.as_str()).dim(), name);
    frame.render_widget(Paragraph::new(figure.value.as_str()).right_aligned().bold(), value);
    frame.render_widget(Paragraph::new(format!("  {}", figure.detail)).dim(), words);
    let shown = figure.curve.len().saturating_sub(usize::from(curve.width));
    let curve_style = Style::new().fg(Color::Cyan);
    let line = Sparkline::default().data(&figure.curve[shown..]).style(curve_style);
    frame.render_widget(line, curve);
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use rabbitscope_runs::record::Counters;

    use super::*;

    fn shown(width: u16, rows: &[SecondRow]) -> String {
        let head = RunHeader {
            name: "steady".to_owned(),
            broker: "RabbitMQ at h:1".to_owned(),
            duration: Some(Duration::from_secs(30)),
            ..RunHeader::default()
        };
        let mut terminal = Terminal::new(TestBackend::new(width, 12)).unwrap();
        terminal.draw(|frame| draw(frame, &head, rows)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn figures_fit_wide_and_narrow_terminals() {
        let row = |second, published| SecondRow {
            second,
            interval_nanos: 1_000_000_000,
            counts: Counters { published, ..Counters::default() },
            ..SecondRow::default()
        };
        let rows = [row(0, 1000), row(1, 2000)];
        let wide = shown(100, &rows);
        for part in ["steady", "RabbitMQ at h:1", "2 of 30 s, 28 s left", "2,000/s", "at most", "█"]
        {
            assert!(wide.contains(part), "`{part}` is not in\n{wide}");
        }
        let narrow = shown(40, &rows);
        assert!(narrow.contains("2,000/s") && !narrow.contains("at most"), "{narrow}");
        assert!(shown(100, &[]).contains("starting"));
        shown(3, &rows);
    }
}
