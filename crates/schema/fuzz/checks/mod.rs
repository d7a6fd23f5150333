//! The fuzz targets of `crates/schema/fuzz`, and the replay of their corpus in tests.
//!
//! Each function reads arbitrary bytes as what users or servers give, and panics if the result contradicts itself or another
//! decoder. Not part of the crate's interface.

mod expect;
mod reflection;
#[cfg(test)]
#[path = "../../../engine/fuzz/checks/replay.rs"]
mod replay;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use expect::expect;
use prost::Message as _;
use protox::file::File;
pub use reflection::reflection;

use crate::{Method, Schema};

/// A method whose messages have a field of each kind.
fn every_kind() -> &'static Method {
    static METHOD: LazyLock<Method> = LazyLock::new(|| {
        let source = include_str!("every_kind.proto");
        let file = File::from_source("every_kind.proto", source).expect("it compiles");
        let file = file.file_descriptor_proto().encode_to_vec();
        let schema = Schema::of_files(&[file]).expect("its imports are protobuf's own");
        schema.method("Every/Kind").expect("it is in the file")
    });
    &METHOD
}

/// Reads a descriptor set, and shows all that is in it.
///
/// # Panics
/// If the set is accepted, but not when it is written and read again.
pub fn descriptors(bytes: &[u8]) {
    let Ok(schema) = Schema::of_protoset(bytes) else { return };
    let methods = schema.methods();
    for name in methods.iter().take(8) {
        let Ok(method) = schema.method(name) else { continue };
        let _ = (schema.describe(name).map(|it| it.text), method.template(), method.not_unary());
        let Ok(request) = method.request(b"{}") else { continue };
        assert_eq!(method.check_request(&request), Ok(()), "{name}");
    }
    let again = Schema::of_protoset(&schema.to_protoset()).expect("it was accepted before");
    assert_eq!(again.methods(), methods);
}

/// Encodes a request.
///
/// # Panics
/// If the request is not what its own decoder takes, or its JSON leads to another message.
pub fn json(bytes: &[u8]) {
    let method = every_kind();
    let Ok(request) = method.request(bytes) else { return };
    assert_eq!(method.check_request(&request), Ok(()));
    let Some(shown) = method.request_json(&request) else { return };
    let again = method.request(shown.as_bytes()).unwrap_or_else(|e| panic!("{e}: {shown}"));
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("it was JSON");
    assert_eq!(method.request_json(&again).as_deref().map(read), Some(read(&shown)));
}
