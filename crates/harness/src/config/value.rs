//! What can stand behind a key.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use regex::Regex;
use toml::de::DeValue;

use super::error::ConfigError;
use super::node::{At, Node};
use rpcbench_record::units;

/// Something that can stand behind a key.
pub(crate) trait Value: Sized {
    /// What must stand there, for errors: `a string`.
    fn one() -> String;

    /// Several of it: `strings`.
    fn many() -> String;

    /// Reads it.
    fn read(node: &Node<'_>) -> Result<Self, ConfigError>;

    /// What a key means that is left out. `None`: it must be there.
    fn absent() -> Option<Self> {
        None
    }
}

/// Makes values of types that are read from a string, and whose errors say what would be right.
macro_rules! texts {
    ($($name:ty),+ $(,)?) => {
        $(impl $crate::config::Value for $name {
            fn one() -> String {
                String::one()
            }

            fn many() -> String {
                String::many()
            }

            fn read(
                node: &$crate::config::Node<'_>,
            ) -> Result<Self, $crate::config::ConfigError> {
                node.parsed::<Self, _>(str::parse)
            }
        })+
    };
}
pub(crate) use texts;

impl Node<'_> {
    fn text<T: Value>(&self) -> Result<&str, ConfigError> {
        self.value().as_str().ok_or_else(|| self.wrong::<T>())
    }

    /// A string, read by `read`.
    pub(crate) fn parsed<T: Value, E: ToString>(
        &self,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        read(self.text::<T>()?).map_err(|error| self.bad(error.to_string()))
    }
}

impl Value for String {
    fn one() -> String {
        "a string".to_owned()
    }

    fn many() -> String {
        "strings".to_owned()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        node.text::<Self>().map(str::to_owned)
    }
}

impl Value for Duration {
    fn one() -> String {
        "a length of time in a string".to_owned()
    }

    fn many() -> String {
        "lengths of time in strings".to_owned()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        node.parsed(units::duration)
    }
}

/// A regular expression with a group.
impl Value for Regex {
    fn one() -> String {
        "a regular expression in a string".to_owned()
    }

    fn many() -> String {
        "regular expressions in strings".to_owned()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        let text = node.text::<Self>()?;
        let regex = Self::new(text).map_err(|error| {
            let lines = error.to_string();
            let problem = lines.lines().last().unwrap_or_default().trim();
            node.bad(format!("not a regular expression: {problem}"))
        })?;
        if regex.captures_len() < 2 {
            let problem =
                "it has no group; put the part to read in parentheses, such as 'go(\\d+\\.\\d+)'";
            return Err(node.bad(problem.to_owned()));
        }
        Ok(regex)
    }
}

impl Value for u32 {
    fn one() -> String {
        format!("a whole number from 0 to {}", Self::MAX)
    }

    fn many() -> String {
        "whole numbers".to_owned()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        let number = node.value().as_integer();
        let number = number.and_then(|n| Self::from_str_radix(n.as_str(), n.radix()).ok());
        number.ok_or_else(|| node.wrong::<Self>())
    }
}

impl Value for bool {
    fn one() -> String {
        "true or false".to_owned()
    }

    fn many() -> String {
        "booleans".to_owned()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        match node.value() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(node.wrong::<Self>()),
        }
    }
}

impl<T: Value> Value for Option<T> {
    fn one() -> String {
        T::one()
    }

    fn many() -> String {
        T::many()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        T::read(node).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Value> Value for At<T> {
    fn one() -> String {
        T::one()
    }

    fn many() -> String {
        T::many()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        Ok(Self::new(T::read(node)?, node))
    }
}

impl<T: Value> Value for Vec<T> {
    fn one() -> String {
        format!("a list of {}", T::many())
    }

    fn many() -> String {
        format!("lists of {}", T::many())
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        let items = node.items().ok_or_else(|| node.wrong::<Self>())?;
        items.map(|item| T::read(&item)).collect()
    }
}

/// A table of names that are the writer's own.
impl<K: FromStr<Err: Display> + Ord, T: Value> Value for BTreeMap<K, T> {
    fn one() -> String {
        format!("a table of {}", T::many())
    }

    fn many() -> String {
        format!("tables of {}", T::many())
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        let entries = node.entries().ok_or_else(|| node.wrong::<Self>())?;
        let entry = |(name, value): (String, Node<'_>)| {
            let key = name.parse().map_err(|error: K::Err| node.bad_name(&name, error.to_string()));
            Ok((key?, T::read(&value)?))
        };
        entries.map(entry).collect()
    }
}
