//! The dictionary of a request: strings, attributes, functions, stacks.

use std::collections::HashMap;

use rabbitscope_profiles::{FrameKind, Profile, StackEntry};

use super::message::{
    AnyValue, Dictionary, Function, KeyValueAndUnit, Line, Link, Location, Mapping, Stack,
};

/// A dictionary under construction.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    dictionary: Dictionary,
    strings: HashMap<String, i32>,
    attributes: HashMap<(&'a str, &'a str), i32>,
    stacks: HashMap<&'a [StackEntry], i32>,
}

impl<'a> Tables<'a> {
    /// Begins a dictionary with the functions of a profile. A frame's location is its number plus 1.
    pub(super) fn from_profile(profile: &'a Profile) -> Self {
        let mut tables = Self {
            dictionary: Dictionary {
                mapping_table: vec![Mapping {}],
                location_table: vec![Location::default()],
                function_table: vec![Function::default()],
                link_table: vec![Link {}],
                string_table: vec![String::new()],
                attribute_table: vec![KeyValueAndUnit::default()],
                stack_table: vec![Stack::default()],
            },
            strings: HashMap::from([(String::new(), 0)]),
            attributes: HashMap::new(),
            stacks: HashMap::new(),
        };
        for (_, frame) in profile.frames.iter() {
            let kind = tables.attribute("profile.frame.type", frame_type(frame.kind));
            let name_strindex = tables.string(&frame.name);
            let function_index = index(tables.dictionary.function_table.len());
            tables.dictionary.function_table.push(Function { name_strindex });
            let lines = vec![Line { function_index }];
            let location = Location { lines, attribute_indices: vec![kind] };
            tables.dictionary.location_table.push(location);
        }
        tables
    }

    pub(super) fn string(&mut self, text: &str) -> i32 {
        if let Some(&known) = self.strings.get(text) {
            return known;
        }
        let id = index(self.dictionary.string_table.len());
        self.dictionary.string_table.push(text.to_owned());
        self.strings.insert(text.to_owned(), id);
        id
    }

    pub(super) fn attribute(&mut self, key: &'a str, value: &'a str) -> i32 {
        if let Some(&known) = self.attributes.get(&(key, value)) {
            return known;
        }
        let id = index(self.dictionary.attribute_table.len());
        let key_strindex = self.string(key);
        let value_of = Some(AnyValue::from(value));
        let row = KeyValueAndUnit { key_strindex, value: value_of, unit_strindex: 0 };
        self.dictionary.attribute_table.push(row);
        self.attributes.insert((key, value), id);
        id
    }

    pub(super) fn stack(&mut self, stack: &'a [StackEntry]) -> i32 {
        if let Some(&known) = self.stacks.get(stack) {
            return known;
        }
        let id = index(self.dictionary.stack_table.len());
        let locations = stack.iter().rev().flat_map(|entry| {
            std::iter::repeat_n(index(entry.frame.0 as usize + 1), entry.repeat as usize)
        });
        self.dictionary.stack_table.push(Stack { location_indices: locations.collect() });
        self.stacks.insert(stack, id);
        id
    }

    pub(super) fn into_dictionary(self) -> Dictionary {
        self.dictionary
    }
}

/// Converts a row number. The number of samples in a window bounds the rows of a table.
fn index(row: usize) -> i32 {
    i32::try_from(row).expect("fewer than 2^31 rows")
}

/// Returns the value of `profile.frame.type` in OpenTelemetry's semantic conventions.
fn frame_type(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Erlang | FrameKind::Bif => "beam",
        FrameKind::Kernel => "kernel",
        _ => "native",
    }
}
