//! Changes of the profiles, with links to the flame graphs of changes.

use rabbitscope_runs::experiment::{ExperimentResult, FunctionChange, ProfileComparison};
use rabbitscope_text::{Unit, counted};

use crate::document::{
    Block, Cell, Column, Content, Link, Section, Sentence, Table, Tone, relative_link,
};

/// Maximum number of listed functions of each arm; the page of the comparison has all of them.
const MAX_FUNCTIONS: usize = 12;

/// Returns the section; absent if no run was profiled.
pub(super) fn section(result: &ExperimentResult) -> Option<Section> {
    (!result.profiles.is_empty()).then_some(())?;
    let intro = "Shares of the merged profiles of all rounds that count. A function is listed if its share changed by \
                 more than it differs between runs. With the arms swapped within rounds, at most 5 of 100 such tables \
                 list any function.";
    let compared = result.profiles.iter().enumerate();
    let blocks = compared.flat_map(|(at, comparison)| blocks(result, at, comparison)).collect();
    Some(Section::new("profiles", "What changed in the profiles", blocks).explained(intro))
}

fn blocks(result: &ExperimentResult, at: usize, comparison: &ProfileComparison) -> Vec<Block> {
    let arm = &result.arms[comparison.arm].name;
    let said = |text: String| {
        Block::sentences(format!("profile-{at}"), vec![Sentence::new(text, Tone::Undecided)])
    };
    if !comparison.refusal.is_empty() {
        return vec![said(format!("{arm}: Not compared: {}", comparison.refusal))];
    }
    let changed = match comparison.changes.len() {
        0 => "No function".to_owned(),
        number => counted(number as u64, "function"),
    };
    let sentence = format!(
        "{arm}: {changed} changed in the {} profile, {} rounds.",
        comparison.event, comparison.rounds
    );
    let link = Link {
        text: format!("Flame graph of changes: {arm}"),
        href: relative_link(&comparison.page),
    };
    let mut blocks = vec![
        said(sentence),
        Block::new(format!("profile-{at}-page"), Content::Links { links: vec![link] }),
    ];
    if !comparison.changes.is_empty() {
        blocks.push(Block::new(format!("profile-{at}-table"), Content::Table(table(comparison))));
    }
    blocks
}

fn table(comparison: &ProfileComparison) -> Table {
    let share = |share: f64| Cell::figure(share, Unit::Share);
    let row = |change: &FunctionChange| {
        vec![
            Cell::code(change.function.clone()),
            share(change.own[0]),
            share(change.own[1]),
            share(change.total[0]),
            share(change.total[1]),
            Cell::text(change.moved.clone()),
        ]
    };
    Table {
        label: "Functions",
        columns: vec![
            Column::text("function"),
            Column::number("own, baseline"),
            Column::number("own, arm"),
            Column::number("total, baseline"),
            Column::number("total, arm"),
            Column::text("moved"),
        ],
        rows: comparison.changes.iter().take(MAX_FUNCTIONS).map(row).collect(),
        ..Table::default()
    }
}
