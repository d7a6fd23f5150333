//! A file, and error messages that point into it.

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rpcbench_record::regular::read_text;
use serde::de::DeserializeOwned;

use super::error::{ConfigError, did_you_mean, unreadable};

/// Maximum size of a manifest or suite, bytes. The largest of ours has 5 KB.
const MAX_LENGTH: u64 = 1 << 20;

/// A kind of file.
pub(crate) trait FileKind: DeserializeOwned {
    /// A valid line for each key that needs an example; errors about the key show it.
    const EXAMPLES: &'static [&'static str];
    /// Old names of keys, each with its replacement.
    const RENAMED: &'static [(&'static str, &'static str)] = &[];

    /// Its tables, named as in messages, each with its keys.
    fn tables() -> Vec<(&'static str, Vec<String>)> {
        Vec::new()
    }
}

/// A file and its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SourceFile {
    pub path: PathBuf,
    text: String,
}

impl SourceFile {
    pub fn new(path: &Path, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_text(path, MAX_LENGTH).map_err(|source| unreadable(path, source))?;
        Ok(Self { path: path.to_owned(), text })
    }

    pub fn parse<T: FileKind>(&self) -> Result<T, ConfigError> {
        let reader = toml::Deserializer::parse(&self.text).map_err(|error| {
            let problem = format!("not valid TOML: {}", error.message().replace('\n', ", "));
            ConfigError::value(self.line(&error.span().unwrap_or(0..0)), problem)
        })?;
        T::deserialize(reader).map_err(|error| self.explain::<T>(&error))
    }

    /// The file and the line where a span begins: `suites/mine.toml:7`. Only the path if the span is the whole file.
    pub fn line(&self, span: &Range<usize>) -> String {
        let path = self.path.display();
        match *span == (0..self.text.len()) {
            true => path.to_string(),
            false => {
                let before = self.text.bytes().take(span.start);
                format!("{path}:{}", 1 + before.filter(|byte| *byte == b'\n').count())
            }
        }
    }

    /// The location of a value and its lines as written: `suites/mine.toml:7: cpus = 1`.
    pub fn place(&self, span: &Range<usize>) -> String {
        format!("{}: {}", self.line(span), self.written(span))
    }

    /// The error for a value that can't be used.
    pub fn bad(&self, span: &Range<usize>, problem: impl Display) -> ConfigError {
        ConfigError::value(self.place(span), problem)
    }

    /// The error for a missing key. `span`: the table that lacks it, or `None` for the file. `path`: the key with its table.
    pub fn missing<T: FileKind>(&self, span: Option<&Range<usize>>, path: &str) -> ConfigError {
        let key = path.rsplit('.').next().unwrap_or(path);
        let place = span.map_or_else(|| self.path.display().to_string(), |span| self.line(span));
        ConfigError::value(place, missing::<T>(path, key))
    }

    /// The lines that a span touches, joined.
    fn written(&self, span: &Range<usize>) -> String {
        let (before, rest) = self.text.split_at(span.start.min(self.text.len()));
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let length = span.end.saturating_sub(span.start).min(rest.len());
        let end = rest[length..].find('\n').map_or(self.text.len(), |to| span.start + length + to);
        self.text[start..end].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Rewords serde's error, which puts names in backticks and gives no example.
    fn explain<T: FileKind>(&self, error: &toml::de::Error) -> ConfigError {
        let (message, span) = (error.message(), error.span().unwrap_or(0..0));
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let problem = match (message, names.as_slice()) {
            (_, [name]) if message.starts_with("missing field") => {
                return ConfigError::value(self.line(&span), missing::<T>(name, name));
            }
            (_, [name, allowed @ ..]) if message.starts_with("unknown field") => {
                if let Some((_, now)) = T::RENAMED.iter().find(|(former, _)| former == name) {
                    return self.bad(&span, format!("unknown key '{name}'; it is called {now}"));
                }
                let is_in = |keys: &Vec<String>| keys.iter().any(|key| key == name);
                let hint = match T::tables().iter().find(|(_, keys)| is_in(keys)) {
                    Some((table, _)) => format!("; it belongs {table}"),
                    None => did_you_mean(name, allowed.iter().copied()),
                };
                format!("unknown key '{name}'{hint}; allowed here: {}", allowed.join(", "))
            }
            _ if message.starts_with("invalid") => {
                let line = self.written(&span);
                format!("{}{}", in_toml_terms(message), such_as::<T>(key_of(&line)))
            }
            _ => message.to_owned(),
        };
        self.bad(&span, problem)
    }
}

/// The keys of a table, taken from serde's error about an unknown key.
pub(crate) fn keys<T: DeserializeOwned>() -> Vec<String> {
    let refused = toml::from_str::<T>("'' = 0").err();
    let message = refused.map(|error| error.message().to_owned()).unwrap_or_default();
    message.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

/// serde's message with TOML's names for types.
fn in_toml_terms(message: &str) -> String {
    let message = match message.split_once("expected struct ") {
        Some((found, _)) => format!("{found}expected a table"),
        None => message.replace('`', ""),
    };
    message.replace("sequence", "list").replace("map", "table")
}

fn missing<T: FileKind>(path: &str, key: &str) -> String {
    let example = example::<T>(key).map(|line| format!("; add a line such as {line}"));
    format!("'{path}' is missing{}", example.unwrap_or_default())
}

fn such_as<T: FileKind>(key: &str) -> String {
    example::<T>(key).map(|line| format!(", such as {line}")).unwrap_or_default()
}

fn example<T: FileKind>(key: &str) -> Option<&'static str> {
    T::EXAMPLES.iter().find(|line| key_of(line) == key).copied()
}

/// The key of a line `key = value` or `[key]`.
fn key_of(line: &str) -> &str {
    let key = line.trim_start_matches('[').split(['=', ']']).next().unwrap_or_default();
    key.rsplit('.').next().unwrap_or_default().trim()
}
