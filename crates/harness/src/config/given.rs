//! A value that remembers where it was given.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Range;
use std::str::FromStr;

use clap::builder::{StringValueParser, TypedValueParser, ValueParserFactory};
use serde::de::{Deserialize, Deserializer, Error as _, Unexpected};
use toml::{Spanned, Value};

use super::source::SourceFile;

/// A value and its origin. It is written the same way in files and on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Given<T> {
    /// The value.
    pub value: T,
    origin: Origin,
}

#[derive(Clone, Debug, PartialEq)]
enum Origin {
    /// The option as typed: `--cpus 2`.
    CommandLine(String),
    /// Bytes of a file.
    File(Range<usize>),
}

impl<T> Given<T> {
    /// A default; `text` is how messages show it.
    pub fn by_default(value: T, text: &str) -> Self {
        Self { value, origin: Origin::CommandLine(format!("{text} (the default)")) }
    }

    /// Converts the value and keeps its origin.
    pub fn map<U>(self, into: impl FnOnce(T) -> U) -> Given<U> {
        Given { value: into(self.value), origin: self.origin }
    }

    /// The value as given: `--cpus 2`, or `suites/mine.toml:7: cpus = 2`.
    pub(crate) fn shown(&self, file: Option<&SourceFile>) -> String {
        match (&self.origin, file) {
            (Origin::CommandLine(text), _) => text.clone(),
            (Origin::File(span), Some(file)) => file.place(span),
            (Origin::File(_), None) => String::new(),
        }
    }
}

/// Reads any scalar of a TOML file from its text.
impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = Spanned::<Value>::deserialize(deserializer)?;
        let origin = Origin::File(scalar.span());
        let found = match scalar.into_inner() {
            Value::String(text) => Ok(text),
            Value::Integer(number) => Ok(number.to_string()),
            Value::Float(number) => Ok(number.to_string()),
            Value::Boolean(value) => Ok(value.to_string()),
            Value::Array(_) => Err(Unexpected::Seq),
            Value::Table(_) | Value::Datetime(_) => Err(Unexpected::Map),
        };
        let text = found.map_err(|found| D::Error::invalid_type(found, &"one value"))?;
        Ok(Self { value: text.parse().map_err(D::Error::custom)?, origin })
    }
}

/// A clap parser for a [`Given`] option.
#[derive(Clone, Debug)]
pub struct GivenParser<T>(PhantomData<fn() -> T>);

impl<T> ValueParserFactory for Given<T>
where
    T: FromStr<Err: Display> + Clone + Send + Sync + 'static,
{
    type Parser = GivenParser<T>;

    fn value_parser() -> GivenParser<T> {
        GivenParser(PhantomData)
    }
}

impl<T> TypedValueParser for GivenParser<T>
where
    T: FromStr<Err: Display> + Clone + Send + Sync + 'static,
{
    type Value = Given<T>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        option: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Given<T>, clap::Error> {
        let name = option.and_then(clap::Arg::get_long).unwrap_or_default().to_owned();
        let parser = StringValueParser::new().try_map(move |text| {
            let value = text.parse::<T>().map_err(|error| error.to_string())?;
            // A switch has no value.
            let text = if text == "true" { String::new() } else { format!(" {text}") };
            let origin = Origin::CommandLine(format!("--{name}{text}"));
            Ok::<_, String>(Given { value, origin })
        });
        parser.parse_ref(command, option, value)
    }
}
