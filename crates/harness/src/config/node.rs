//! A value in a file, and where it stands.

use std::fmt;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Place, closest};
use super::value::Value;

/// A file being read.
pub(super) struct File<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl File<'_> {
    /// The line of a byte of the text, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }
}

/// A value in a file.
pub(crate) struct Node<'a> {
    file: &'a File<'a>,
    place: Place,
    example: &'static str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Node<'a> {
    pub(super) fn root(file: &'a File<'a>, value: &'a Spanned<DeValue<'a>>) -> Self {
        let place = Place { path: file.path.to_owned(), line: None, key: String::new() };
        Self { file, place, example: "", value }
    }

    /// A value within this one, at that byte of the text.
    fn inner(&self, key: String, at: usize, value: &'a Spanned<DeValue<'a>>) -> Self {
        let line = Some(self.file.line(at));
        let place = Place { path: self.place.path.clone(), line, key };
        Self { file: self.file, place, example: self.example, value }
    }

    fn key(&self, name: &str) -> String {
        match self.place.key.as_str() {
            "" => name.to_owned(),
            table => format!("{table}.{name}"),
        }
    }

    fn table(&self) -> Option<&'a DeTable<'a>> {
        self.value.get_ref().as_table()
    }

    /// The value of a key of this table. `example`: a line that would do.
    pub(crate) fn get<T: Value>(
        &self,
        name: &str,
        example: &'static str,
    ) -> Result<T, ConfigError> {
        let found = self.table().and_then(|table| table.get_key_value(name));
        let Some((key, value)) = found else {
            let place = Box::new(Place { key: self.key(name), ..self.place.clone() });
            return T::absent().ok_or(ConfigError::MissingKey { place, example });
        };
        T::read(&Self { example, ..self.inner(self.key(name), key.span().start, value) })
    }

    /// Refuses whatever is no table, and keys that are not in `allowed`.
    pub(crate) fn only<T: Value>(&self, allowed: &[&str]) -> Result<(), ConfigError> {
        let table = self.table().ok_or_else(|| self.wrong::<T>())?;
        let stranger = table.iter().find(|(key, _)| !allowed.contains(&key.get_ref().as_ref()));
        let Some((key, value)) = stranger else { return Ok(()) };
        Err(ConfigError::UnknownKey {
            place: Box::new(self.inner(self.key(key.get_ref()), key.span().start, value).place),
            suggestion: closest(key.get_ref(), allowed.iter().copied()),
            allowed: allowed.iter().map(|key| (*key).to_owned()).collect(),
        })
    }

    /// The error for a name in this table that can't be used.
    pub(super) fn bad_name(&self, name: &str, problem: String) -> ConfigError {
        let line = self.table().and_then(|table| table.get_key_value(name));
        let line = line.map(|(key, _)| self.file.line(key.span().start)).or(self.place.line);
        let place = Box::new(Place { line, ..self.place.clone() });
        ConfigError::BadValue { place, value: format!("'{name}'"), problem }
    }

    /// The names and values of this table. `None`: it is none.
    pub(super) fn entries(&self) -> Option<impl Iterator<Item = (String, Self)>> {
        let entry = |(key, value): (&Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            (name.to_string(), self.inner(self.key(name), key.span().start, value))
        };
        Some(self.table()?.iter().map(entry))
    }

    /// The items of this list. `None`: it is none.
    pub(super) fn items(&self) -> Option<impl Iterator<Item = Self>> {
        let items = self.value.get_ref().as_array()?;
        Some(items.iter().enumerate().map(|(i, item)| {
            self.inner(format!("{}[{i}]", self.place.key), item.span().start, item)
        }))
    }

    pub(super) fn value(&self) -> &DeValue<'a> {
        self.value.get_ref()
    }

    /// As written, on one line.
    fn shown(&self) -> String {
        let written = self.file.text.get(self.value.span()).unwrap_or_default();
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The error for a value of another type than `T`.
    pub(super) fn wrong<T: Value>(&self) -> ConfigError {
        let found = match self.value() {
            DeValue::String(_) => format!("the string {}", self.shown()),
            DeValue::Integer(_) => format!("the integer {}", self.shown()),
            DeValue::Float(_) => format!("the number {}", self.shown()),
            DeValue::Boolean(_) => format!("the boolean {}", self.shown()),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => format!("the list {}", self.shown()),
            DeValue::Table(_) => "a table".to_owned(),
        };
        let (place, example) = (Box::new(self.place.clone()), self.example);
        ConfigError::WrongType { place, found, expected: T::one(), example }
    }

    /// The error for a value that can't be used.
    pub(super) fn bad(&self, problem: String) -> ConfigError {
        let (place, value) = (Box::new(self.place.clone()), self.shown());
        ConfigError::BadValue { place, value, problem }
    }
}

/// A value that remembers where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    /// The value.
    pub value: T,
    place: Place,
    shown: String,
}

impl<T> At<T> {
    pub(super) fn new(value: T, node: &Node<'_>) -> Self {
        Self { value, place: node.place.clone(), shown: node.shown() }
    }

    /// The error for a value that can't be used.
    pub(crate) fn bad(&self, problem: impl fmt::Display) -> ConfigError {
        let (place, value) = (Box::new(self.place.clone()), self.shown.clone());
        ConfigError::BadValue { place, value, problem: problem.to_string() }
    }
}

/// Place, key and value as written.
impl<T> fmt::Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} = {}", self.place, self.place.key, self.shown)
    }
}
