//! Checks a TOML table against a description of what may stand in it, and teaches where it differs.

use std::path::Path;

use regex::Regex;
use toml::{Table, Value};

use super::error::{ManifestError, closest};
use crate::units;

/// What may stand behind a key.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A string.
    Text,
    /// A string that is a length of time.
    Duration,
    /// A string that is a regular expression with a group.
    Pattern,
    /// A list of strings.
    Strings,
    /// A table of names and strings.
    Texts,
    /// A table of names and patterns.
    Patterns,
    /// A table with keys of its own.
    Table(&'static [Key]),
    /// A list of such tables.
    Tables(&'static [Key]),
    /// A table of names and such tables.
    Named(&'static [Key]),
}

/// One key of a table.
pub(super) struct Key {
    /// The key itself.
    pub name: &'static str,
    /// What may stand behind it.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// A line that would do, shown in errors.
    pub example: &'static str,
}

impl Key {
    pub(super) const fn may(name: &'static str, kind: Kind, example: &'static str) -> Self {
        Self { name, kind, required: false, example }
    }

    pub(super) const fn must(name: &'static str, kind: Kind, example: &'static str) -> Self {
        Self { name, kind, required: true, example }
    }
}

/// Checks `table`, which stands in `file`, against `keys`.
///
/// # Errors
/// The first thing that differs.
pub(super) fn check(file: &Path, table: &Table, keys: &[Key]) -> Result<(), ManifestError> {
    Checker { file }.table("", table, keys)
}

struct Checker<'a> {
    file: &'a Path,
}

impl Checker<'_> {
    fn table(&self, prefix: &str, table: &Table, keys: &[Key]) -> Result<(), ManifestError> {
        for (name, value) in table {
            let Some(key) = keys.iter().find(|key| key.name == name) else {
                return Err(self.unknown(prefix, name, keys));
            };
            self.value(&join(prefix, name), value, key)?;
        }
        match keys.iter().find(|key| key.required && !table.contains_key(key.name)) {
            None => Ok(()),
            Some(key) => Err(ManifestError::MissingKey {
                path: self.file.to_owned(),
                key: join(prefix, key.name),
                example: key.example,
            }),
        }
    }

    fn value(&self, path: &str, value: &Value, key: &Key) -> Result<(), ManifestError> {
        match (key.kind, value) {
            (Kind::Text, Value::String(_)) => Ok(()),
            (Kind::Duration, Value::String(text)) => units::duration(text)
                .map(drop)
                .map_err(|error| self.bad(path, text, error.to_string())),
            (Kind::Pattern, Value::String(text)) => self.pattern(path, text),
            (Kind::Strings, Value::Array(items)) if items.iter().all(Value::is_str) => Ok(()),
            (Kind::Texts, Value::Table(table)) => self.each(path, table, Kind::Text, key),
            (Kind::Patterns, Value::Table(table)) => self.each(path, table, Kind::Pattern, key),
            (Kind::Table(keys), Value::Table(table)) => self.table(path, table, keys),
            (Kind::Named(_), Value::Table(table)) => {
                table.iter().try_for_each(|(name, inner)| self.inner(&join(path, name), inner, key))
            }
            (Kind::Tables(_), Value::Array(items)) => items
                .iter()
                .enumerate()
                .try_for_each(|(i, inner)| self.inner(&format!("{path}[{i}]"), inner, key)),
            _ => Err(self.wrong(path, value, key)),
        }
    }

    fn inner(&self, path: &str, value: &Value, key: &Key) -> Result<(), ManifestError> {
        match (key.kind, value) {
            (Kind::Named(keys) | Kind::Tables(keys), Value::Table(table)) => {
                self.table(path, table, keys)
            }
            _ => Err(self.wrong(path, value, key)),
        }
    }

    fn each(&self, path: &str, table: &Table, kind: Kind, key: &Key) -> Result<(), ManifestError> {
        let inner = Key { name: key.name, kind, required: false, example: key.example };
        table.iter().try_for_each(|(name, value)| self.value(&join(path, name), value, &inner))
    }

    fn pattern(&self, path: &str, text: &str) -> Result<(), ManifestError> {
        match Regex::new(text) {
            Err(error) => {
                let line = error.to_string();
                let problem = line.lines().last().unwrap_or_default().trim().to_owned();
                Err(self.bad(path, text, format!("not a regular expression: {problem}")))
            }
            Ok(regex) if regex.captures_len() < 2 => Err(self.bad(
                path,
                text,
                "it has no group; put the part to read in parentheses, such as 'go(\\d+\\.\\d+)'"
                    .to_owned(),
            )),
            Ok(_) => Ok(()),
        }
    }

    fn bad(&self, key: &str, value: &str, problem: String) -> ManifestError {
        let (key, value) = (key.to_owned(), value.to_owned());
        ManifestError::BadValue { path: self.file.to_owned(), key, value, problem }
    }

    fn wrong(&self, path: &str, value: &Value, key: &Key) -> ManifestError {
        ManifestError::WrongType {
            path: self.file.to_owned(),
            key: path.to_owned(),
            found: describe(value),
            expected: expected(key.kind),
            example: key.example,
        }
    }

    fn unknown(&self, prefix: &str, name: &str, keys: &[Key]) -> ManifestError {
        ManifestError::UnknownKey {
            path: self.file.to_owned(),
            key: join(prefix, name),
            suggestion: closest(name, keys.iter().map(|key| key.name)),
            allowed: keys.iter().map(|key| key.name.to_owned()).collect(),
        }
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Pattern => "a string",
        Kind::Duration => "a length of time in a string",
        Kind::Strings => "a list of strings",
        Kind::Texts => "a table of strings",
        Kind::Patterns => "a table of patterns",
        Kind::Table(_) => "a table",
        Kind::Tables(_) => "a list of tables",
        Kind::Named(_) => "a table of named tables",
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the string \"{text}\""),
        Value::Integer(number) => format!("the integer {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::Boolean(truth) => format!("the boolean {truth}"),
        Value::Datetime(_) => "a date".to_owned(),
        Value::Array(_) => format!("the list {value}"),
        Value::Table(_) => "a table".to_owned(),
    }
}
