//! Tables of known keys.

use std::path::Path;

use super::error::{ConfigError, Place};
use super::value::Value;

/// A struct made by [`table!`].
pub(crate) trait Table: Value {
    /// A line that would do for a key of this table.
    fn example(key: &str) -> &'static str;

    /// The error for a key that neither this file nor one that it refines has. `table` stands before the key: `run.`.
    fn missing(path: &Path, table: &str, key: &str) -> ConfigError {
        let place = Place { path: path.to_owned(), line: None, key: format!("{table}{key}") };
        ConfigError::MissingKey { place: Box::new(place), example: Self::example(key) }
    }
}

/// Makes a struct of a table: for each key its type and a line that would do, which errors show.
macro_rules! table {
    ($(#[$about:meta])* $vis:vis struct $name:ident {
        $($(#[$doc:meta])* $key:ident: $kind:ty = $example:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $($(#[$doc])* pub $key: $kind,)*
        }

        impl $crate::config::Value for $name {
            fn one() -> String {
                "a table".to_owned()
            }

            fn many() -> String {
                "tables".to_owned()
            }

            fn read(
                node: &$crate::config::Node<'_>,
            ) -> Result<Self, $crate::config::ConfigError> {
                node.only::<Self>(&[$(stringify!($key)),*])?;
                Ok(Self { $($key: node.get(stringify!($key), $example)?,)* })
            }

            fn absent() -> Option<Self> {
                Some(Self { $($key: <$kind as $crate::config::Value>::absent()?,)* })
            }
        }

        impl $crate::config::Table for $name {
            fn example(key: &str) -> &'static str {
                match key {
                    $(stringify!($key) => $example,)*
                    _ => "",
                }
            }
        }
    };
}
pub(crate) use table;
