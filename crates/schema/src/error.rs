//! Why a schema, or what a user asked of it, can't be used.

use std::path::PathBuf;

use rpcbench_engine::CallError;

/// Why a schema can't be used: what is wrong, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// A file can't be read.
    #[error("{}: can't be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
    /// A source file can't be compiled, or a descriptor set contradicts itself.
    #[error("{0}")]
    Invalid(String),
    /// No method has this name, or several do.
    #[error("{0}")]
    NoMethod(String),
    /// The server offers no reflection.
    #[error("{server} offers no reflection ({error}); give --proto FILE, or --protoset FILE")]
    NoReflection {
        /// The server's address.
        server: String,
        /// What it answered.
        error: CallError,
    },
    /// Reflection failed.
    #[error("reflection: {0}")]
    Reflection(String),
}
