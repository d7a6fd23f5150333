//! Schemas of other services than rpcbench's own: their sources, their methods, and messages from JSON.
//!
//! A [`Schema`] is read from `.proto` files, from descriptor sets, or from a server by reflection. A [`Method`] of it encodes
//! requests and decodes replies. All of that happens before a load or on few replies; only an [`Expectation`] is checked on
//! every reply.

#![forbid(unsafe_code)]

mod contradictions;
mod describe;
mod edition;
mod error;
mod expect;
mod files;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
#[path = "../fuzz/checks/mod.rs"]
pub mod fuzzing;
mod imports;
mod json;
mod method;
mod reflection;
mod schema;
mod template;

pub use describe::Description;
pub use error::SchemaError;
pub use expect::Expectation;
pub use json::JsonError;
pub use method::Method;
pub use reflection::Reflection;
pub use schema::Schema;
