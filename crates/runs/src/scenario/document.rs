//! The TOML text with its positions, and the overrides that replace values in it.

use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use super::error::{Origin, Problem, quoted};

/// Sign before the key that an override removes.
pub(crate) const REMOVAL: char = '!';

/// A parsed file after overrides.
pub(crate) struct Document<'text> {
    text: &'text str,
    root: Value,
    positions: toml::Spanned<DeTable<'text>>,
    overridden: Vec<Vec<String>>,
}

impl<'text> Document<'text> {
    pub(crate) fn parse(text: &'text str, overrides: &[String]) -> Result<Self, Problem> {
        let syntax = |error: toml::de::Error| Problem {
            path: Vec::new(),
            origin: error.span().map_or(Origin::File, |span| line_of(text, span.start)),
            reason: error.message().to_owned(),
        };
        let positions = DeTable::parse(text).map_err(syntax)?;
        let root = Value::Table(text.parse::<Table>().map_err(syntax)?);
        let mut document = Self { text, root, positions, overridden: Vec::new() };
        for line in overrides {
            document.apply(line)?;
        }
        Ok(document)
    }

    pub(crate) fn root(&self) -> &Value {
        &self.root
    }

    /// Adds the line number, or the fact that the value came from an override.
    pub(crate) fn locate(&self, mut problem: Problem) -> Problem {
        let is_override = self.overridden.iter().any(|path| problem.path.starts_with(path));
        problem.origin = if is_override {
            Origin::Override
        } else if problem.path.is_empty() {
            Origin::File
        } else {
            self.position(&problem.path).map_or(Origin::File, |offset| line_of(self.text, offset))
        };
        problem
    }

    fn apply(&mut self, assignment: &str) -> Result<(), Problem> {
        let path_of =
            |key: &str| -> Vec<String> { key.trim().split('.').map(str::to_owned).collect() };
        let path = if let Some(key) = assignment.strip_prefix(REMOVAL) {
            let path = path_of(key);
            remove(&mut self.root, &path).map_err(overridden)?;
            path
        } else {
            let Some((key, value)) = assignment.split_once('=') else {
                return Err(overridden(Problem::new(format!(
                    "{} is not an override: write `key=value`, as in `publishers.0.rate=5000`, or `!key` to remove \
                     the key",
                    quoted(assignment)
                ))));
            };
            let path = path_of(key);
            set(&mut self.root, &path, read_value(value.trim())).map_err(overridden)?;
            path
        };
        self.overridden.push(path);
        Ok(())
    }

    /// Returns the byte offset of the key, or of the innermost table on the way to it.
    fn position(&self, path: &[String]) -> Option<usize> {
        let mut table = self.positions.get_ref();
        let mut keys = path.iter();
        let mut at = None;
        while let Some(key) = keys.next() {
            let Some((name, mut value)) = table.iter().find(|(name, _)| name.get_ref() == key)
            else {
                return at;
            };
            at = Some(name.span().start);
            while let DeValue::Array(items) = value.get_ref() {
                let Some(item) =
                    keys.next().and_then(|index| items.get(index.parse::<usize>().ok()?))
                else {
                    return at;
                };
                at = Some(item.span().start);
                value = item;
            }
            match value.get_ref() {
                DeValue::Table(inner) => table = inner,
                _ => return at,
            }
        }
        at
    }
}

fn overridden(problem: Problem) -> Problem {
    Problem { origin: Origin::Override, ..problem }
}

fn line_of(text: &str, offset: usize) -> Origin {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    Origin::Line(before.split(|byte| *byte == b'\n').count())
}

/// Reads a TOML value or, failing that, the text itself, so that `run.duration=30s` needs no quotes.
fn read_value(text: &str) -> Value {
    let assignment = format!("value = {text}").parse::<Table>();
    let value = assignment
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn set(at: &mut Value, path: &[String], new: Value) -> Result<(), Problem> {
    let Some((key, rest)) = path.split_first() else {
        *at = new;
        return Ok(());
    };
    let inner = match at {
        Value::Table(table) => {
            // A number is an index into a list, even if there is no list yet.
            let is_list = !["headers", "arguments"].contains(&key.as_str());
            let next = is_list && rest.first().is_some_and(|next| next.parse::<usize>().is_ok());
            let missing = if next { Value::Array(Vec::new()) } else { Value::Table(Table::new()) };
            table.entry(key.clone()).or_insert(missing)
        }
        Value::Array(items) => {
            let there = items.len();
            let index = key.parse().ok();
            if index == Some(there) {
                // The index after the last: lists of tables grow by their first key.
                items.push(Value::Table(Table::new()));
            }
            let item = index.and_then(|index: usize| items.get_mut(index));
            item.ok_or_else(|| {
                let reason = format!("there are {there} of these, numbered from 0");
                Problem::new(reason).under(key)
            })?
        }
        _ => return Err(Problem::new("is a plain value, it has no keys").under(key)),
    };
    set(inner, rest, new).map_err(|problem| problem.under(key))
}

fn remove(at: &mut Value, path: &[String]) -> Result<(), Problem> {
    let missing = |key: &String| Problem::new("is not there to be removed").under(key);
    match (at, path) {
        (Value::Table(table), [key]) => table.remove(key).map(drop).ok_or_else(|| missing(key)),
        (_, []) => Ok(()),
        (Value::Array(_), [key]) => {
            Err(Problem::new("is an element of a list, of which keys can be removed").under(key))
        }
        (Value::Table(table), [key, rest @ ..]) => {
            let inner = table.get_mut(key).ok_or_else(|| missing(key))?;
            remove(inner, rest).map_err(|problem| problem.under(key))
        }
        (Value::Array(items), [key, rest @ ..]) => {
            let place = key.parse().ok();
            let item = place.and_then(|place: usize| items.get_mut(place));
            remove(item.ok_or_else(|| missing(key))?, rest).map_err(|problem| problem.under(key))
        }
        (_, [key, ..]) => Err(missing(key)),
    }
}
