//! Reads TOML files: manifests and suites.
//!
//! serde reads them into plain structs that refuse unknown keys. A value that is checked later is a [`Given`] or a
//! `toml::Spanned`, and [`SourceFile`] turns its position into file, line and the line as written.

mod error;
mod given;
mod source;
#[cfg(test)]
mod tests;
mod values;

pub use error::ConfigError;
pub(crate) use error::{did_you_mean, hint, near, unreadable};
pub use given::Given;
pub(crate) use source::{FileKind, SourceFile, keys};
pub(crate) use values::from_text;
pub use values::{Calls, Count, Length, Memory, NonZeroLength, Share};
