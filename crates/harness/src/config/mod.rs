//! Reads configuration files: manifests and suites.
//!
//! A table is a struct made by `table!`: one line for each key, with its type and a line that would do. The type
//! says what may stand there and whether it must: an `Option` may be left out, and so may a table whose keys may
//! all be left out. Keys that are not listed are refused. A value that is checked against others later is an
//! `At`, which remembers where it stands.

mod error;
mod node;
mod table;
#[cfg(test)]
mod tests;
mod value;

use std::fs;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use error::{ConfigError, Place};
pub(crate) use error::{closest, hint};
pub(crate) use node::{At, Node};
pub(crate) use table::{Table, table};
pub(crate) use value::{Value, texts};

/// Reads a file.
pub(crate) fn read<T: Table>(path: &Path) -> Result<T, ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
    parse(path, &text)
}

/// Reads the text of a file; `path` is for errors.
pub(crate) fn parse<T: Table>(path: &Path, text: &str) -> Result<T, ConfigError> {
    let file = node::File { path, text };
    let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        place: Box::new(Place {
            path: path.to_owned(),
            line: error.span().map(|span| file.line(span.start)),
            key: String::new(),
        }),
        message: error.message().replace('\n', ", "),
    })?;
    let root = Spanned::new(0..0, DeValue::Table(table.into_inner()));
    T::read(&Node::root(&file, &root))
}

/// The error for a file or folder that the system does not let read.
pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> ConfigError {
    ConfigError::Read { path: PathBuf::from(path), source }
}
