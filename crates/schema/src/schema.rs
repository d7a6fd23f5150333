//! All known types and services.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_reflect::{DescriptorPool, Kind, MethodDescriptor, ServiceDescriptor};
use prost_types::{FileDescriptorProto, FileDescriptorSet};

use crate::describe::name_of;
use crate::{Description, Method, SchemaError, contradictions, edition, imports};

/// Types and services.
#[derive(Clone, Debug)]
pub struct Schema {
    pub(crate) pool: DescriptorPool,
}

/// Maximum names listed if none is similar.
const MAX_LISTED: usize = 20;
/// Minimum similarity of a name to be suggested.
const MIN_SIMILARITY: f64 = 0.75;

impl Schema {
    /// A schema from these encoded files, in any order. Imports of `google/protobuf` may be missing.
    ///
    /// # Errors
    /// If one is invalid, or an import is missing.
    pub(crate) fn of_files(files: &[Vec<u8>]) -> Result<Self, SchemaError> {
        let mut by_name = BTreeMap::new();
        for bytes in files {
            let file = decode(bytes)?;
            by_name.insert(file.name().to_owned(), file);
        }
        for file in known_imports(&by_name) {
            by_name.entry(file.name().to_owned()).or_insert(file);
        }
        Self::of_descriptors(FileDescriptorSet { file: by_name.into_values().collect() })
    }

    pub(crate) fn of_descriptors(mut set: FileDescriptorSet) -> Result<Self, SchemaError> {
        set.file.iter().try_for_each(contradictions::refuse)?;
        imports::make_explicit(&mut set.file);
        let pool = DescriptorPool::from_file_descriptor_set(set);
        let pool = pool.map_err(|error| SchemaError::Invalid(described(&error)))?;
        Ok(Self { pool })
    }

    /// The schema as an encoded `FileDescriptorSet`, which `--protoset` accepts.
    pub fn to_protoset(&self) -> Vec<u8> {
        self.pool.encode_to_vec()
    }

    /// Its services, by name.
    pub fn services(&self) -> Vec<ServiceDescriptor> {
        let mut services: Vec<_> = self.pool.services().collect();
        services.sort_by(|one, other| one.full_name().cmp(other.full_name()));
        services
    }

    /// Every method, as `package.Service/Method`.
    pub fn methods(&self) -> Vec<String> {
        self.all_methods().map(|method| path(&method)).collect()
    }

    fn all_methods(&self) -> impl Iterator<Item = MethodDescriptor> {
        self.services().into_iter().flat_map(|service| service.methods().collect::<Vec<_>>())
    }

    /// Finds a method by `package.Service/Method`, `package.Service.Method`, or an end of its name that no other method has.
    ///
    /// # Errors
    /// If no method matches, or several do.
    pub fn method(&self, name: &str) -> Result<Method, SchemaError> {
        self.find_method(name).map(Method::new)
    }

    fn find_method(&self, name: &str) -> Result<MethodDescriptor, SchemaError> {
        match named(self.all_methods(), &dotted(name), |it| dotted(&path(it))) {
            Ok(method) => Ok(method),
            Err(several) => Err(SchemaError::NoMethod(match several.as_slice() {
                [first, second, ..] => {
                    let [first, second] = [first, second].map(path);
                    format!("'{name}' may be {first} or {second}; write more of its name")
                }
                _ => self.unknown(name),
            })),
        }
    }

    /// Describes a service, a method or a type, given its full name or an end of its name that no other has.
    ///
    /// # Errors
    /// If nothing matches, or several do.
    pub fn describe(&self, name: &str) -> Result<Description, SchemaError> {
        let wanted = dotted(name);
        if let Ok(service) = named(self.services(), &wanted, |it| it.full_name().to_owned()) {
            return Ok(Description::of_service(&service));
        }
        match self.find_method(name) {
            Ok(method) => Ok(Description::of_method(method)),
            Err(unknown) => self.find_type(&wanted).map(Description::of_type).ok_or(unknown),
        }
    }

    fn find_type(&self, name: &str) -> Option<Kind> {
        let messages = self.pool.all_messages().filter(|message| !message.is_map_entry());
        let kinds = messages.map(Kind::Message).chain(self.pool.all_enums().map(Kind::Enum));
        named(kinds, name, name_of).ok()
    }

    /// Why no method has this name, with similar ones.
    fn unknown(&self, name: &str) -> String {
        let all = self.methods();
        let similarity = |other: &String| {
            let (name, other) = (dotted(name).to_lowercase(), dotted(other).to_lowercase());
            let end = other.len().saturating_sub(name.len());
            let end = other.get(end..).unwrap_or_default();
            strsim::jaro_winkler(&name, &other).max(strsim::normalized_levenshtein(&name, end))
        };
        let mut near: Vec<_> = all.iter().map(|other| (similarity(other), other)).collect();
        near.retain(|(similarity, _)| *similarity >= MIN_SIMILARITY);
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        let near: Vec<&str> = near.iter().take(3).map(|(_, name)| name.as_str()).collect();
        match (near.is_empty(), all.len()) {
            (_, 0) => format!("unknown method '{name}': the schema has no services"),
            (false, _) => format!("unknown method '{name}'; did you mean {}?", near.join(" or ")),
            (true, 1..=MAX_LISTED) => {
                format!("unknown method '{name}'; expected one of {}", all.join(", "))
            }
            (true, count) => format!("unknown method '{name}'; --list shows all {count}"),
        }
    }
}

/// The item with this full name, or the only one whose name ends with it; otherwise all whose names do.
fn named<T>(
    all: impl IntoIterator<Item = T>,
    name: &str,
    full: impl Fn(&T) -> String,
) -> Result<T, Vec<T>> {
    let end = format!(".{name}");
    let mut ending = Vec::new();
    for one in all {
        match full(&one) {
            full if full == name => return Ok(one),
            full if full.ends_with(&end) => ending.push(one),
            _ => {}
        }
    }
    match ending.len() {
        1 => Ok(ending.remove(0)),
        _ => Err(ending),
    }
}

/// `package.Service/Method`.
pub(crate) fn path(method: &MethodDescriptor) -> String {
    format!("{}/{}", method.parent_service().full_name(), method.name())
}

fn dotted(name: &str) -> String {
    name.trim_start_matches(['/', '.']).replace('/', ".")
}

/// Decodes a file; an edition is rewritten as proto2.
pub(crate) fn decode(bytes: &[u8]) -> Result<FileDescriptorProto, SchemaError> {
    let file = FileDescriptorProto::decode(bytes);
    let file =
        file.map_err(|error| SchemaError::Invalid(format!("invalid descriptor: {error}")))?;
    match file.syntax() {
        "editions" => edition::as_proto2(file, bytes),
        _ => Ok(file),
    }
}

/// Missing imports that this program has, with their own imports.
fn known_imports(files: &BTreeMap<String, FileDescriptorProto>) -> Vec<FileDescriptorProto> {
    let mut wanted: Vec<String> =
        files.values().flat_map(|file| file.dependency.iter().cloned()).collect();
    let mut found: BTreeMap<String, FileDescriptorProto> = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        if files.contains_key(&name) || found.contains_key(&name) {
            continue;
        }
        if let Some(file) = well_known(&name) {
            wanted.extend(file.dependency.iter().cloned());
            found.insert(name, file);
        }
    }
    found.into_values().collect()
}

/// A file that is part of protobuf itself.
pub(crate) fn well_known(name: &str) -> Option<FileDescriptorProto> {
    let file = DescriptorPool::global().get_file_by_name(name)?;
    Some(file.file_descriptor_proto().clone())
}

/// What is wrong with descriptors, in one line, with the file.
fn described(error: &prost_reflect::DescriptorError) -> String {
    let place = error.file().map(|file| format!("{file}: ")).unwrap_or_default();
    format!("{place}{error}")
}
