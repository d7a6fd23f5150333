//! Errors of the system, with what they are about.

use std::fmt::Display;
use std::io;

/// For `map_err`: puts a path, or what was refused, in front of an error.
pub(crate) fn about<E: Into<io::Error>>(what: impl Display) -> impl FnOnce(E) -> io::Error {
    move |error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("{what}: {error}"))
    }
}
