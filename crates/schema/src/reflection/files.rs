//! The files of a schema as a server sends them, and those that it lacks.

use std::collections::{BTreeMap, BTreeSet};

use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

use super::Reflection;
use crate::schema::{decode, well_known};
use crate::{Schema, SchemaError};

/// Files by name.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<String, FileDescriptorProto>);

impl Files {
    /// Adds encoded files, and returns their names.
    pub fn add(&mut self, files: Vec<Vec<u8>>) -> Result<Vec<String>, SchemaError> {
        let mut names = Vec::new();
        for bytes in files {
            let file = decode(&bytes)?;
            names.push(file.name().to_owned());
            self.0.entry(file.name().to_owned()).or_insert(file);
        }
        Ok(names)
    }

    /// Adds the files of another service of the same server.
    pub fn merge(&mut self, other: Self) {
        for (name, file) in other.0 {
            self.0.entry(name).or_insert(file);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gets the imports of all files, and their own imports: from the server, then from protobuf's own files, then by the
    /// symbols that they define, since some servers know a file by another name than its importers do.
    pub fn complete(&mut self, server: &mut Reflection) -> Result<(), SchemaError> {
        let mut sought = BTreeSet::new();
        while let Some((importer, import)) = self.missing(&sought) {
            sought.insert(import.clone());
            match server.files_of_name(&import)? {
                Ok(files) => {
                    self.add(files)?;
                }
                Err(_) => {
                    if let Some(file) = well_known(&import) {
                        self.0.insert(import.clone(), file);
                    }
                }
            }
            if !self.0.contains_key(&import) {
                self.replace(&importer, &import, server)?;
                sought.remove(&import);
            }
        }
        Ok(())
    }

    /// A file, and one of its imports that is missing.
    fn missing(&self, sought: &BTreeSet<String>) -> Option<(String, String)> {
        let imports = self.0.values().flat_map(|file| {
            file.dependency.iter().map(|import| (file.name().to_owned(), import.clone()))
        });
        let mut imports = imports.filter(|(_, import)| !self.0.contains_key(import));
        imports.find(|(_, import)| !sought.contains(import))
    }

    /// Replaces an import by the files that define what the importer uses from it.
    fn replace(
        &mut self,
        importer: &str,
        import: &str,
        server: &mut Reflection,
    ) -> Result<(), SchemaError> {
        let Some(file) = self.0.get(importer).cloned() else { return Ok(()) };
        let mut used = Vec::new();
        for symbol in unresolved(&file, &self.defined()) {
            let found = server.files_of_symbol(&symbol)?;
            let files = found.map_err(|error| {
                SchemaError::Reflection(format!(
                    "{importer} imports {import}, which the server does not have ({symbol}: {error}); give --proto or --protoset"
                ))
            })?;
            used.extend(self.add(files)?);
        }
        let Some(file) = self.0.get_mut(importer) else { return Ok(()) };
        remove_import(file, import);
        for name in used.into_iter().filter(|name| name != importer) {
            if !file.dependency.contains(&name) {
                file.dependency.push(name);
            }
        }
        Ok(())
    }

    /// Full names of all messages and enums, with a leading dot.
    fn defined(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for file in self.0.values() {
            let scope = if file.package().is_empty() {
                String::new()
            } else {
                format!(".{}", file.package())
            };
            names.extend(file.enum_type.iter().map(|kind| format!("{scope}.{}", kind.name())));
            file.message_type.iter().for_each(|kind| define(kind, &scope, &mut names));
        }
        names
    }

    pub fn into_schema(self) -> Result<Schema, SchemaError> {
        Schema::of_descriptors(FileDescriptorSet { file: self.0.into_values().collect() })
    }
}

fn define(kind: &DescriptorProto, scope: &str, names: &mut BTreeSet<String>) {
    let name = format!("{scope}.{}", kind.name());
    names.extend(kind.enum_type.iter().map(|kind| format!("{name}.{}", kind.name())));
    kind.nested_type.iter().for_each(|kind| define(kind, &name, names));
    names.insert(name);
}

/// Drops an import, and adjusts the import indices in the file.
fn remove_import(file: &mut FileDescriptorProto, import: &str) {
    let Some(at) = file.dependency.iter().position(|name| name == import) else { return };
    file.dependency.remove(at);
    for list in [&mut file.public_dependency, &mut file.weak_dependency] {
        list.retain(|index| *index as usize != at);
        list.iter_mut().filter(|index| **index as usize > at).for_each(|index| *index -= 1);
    }
}

/// Full names, without a leading dot, of the types that a file uses and no known file defines.
fn unresolved(file: &FileDescriptorProto, defined: &BTreeSet<String>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    file.message_type.iter().for_each(|kind| used_by(kind, &mut names));
    file.extension.iter().for_each(|field| used_by_field(field, &mut names));
    for method in file.service.iter().flat_map(|service| &service.method) {
        names.extend([method.input_type().to_owned(), method.output_type().to_owned()]);
    }
    names.retain(|name| name.starts_with('.') && !defined.contains(name));
    names.into_iter().map(|name| name.trim_start_matches('.').to_owned()).collect()
}

fn used_by(kind: &DescriptorProto, names: &mut BTreeSet<String>) {
    kind.field.iter().chain(&kind.extension).for_each(|field| used_by_field(field, names));
    kind.nested_type.iter().for_each(|kind| used_by(kind, names));
}

fn used_by_field(field: &FieldDescriptorProto, names: &mut BTreeSet<String>) {
    if matches!(field.r#type(), Type::Message | Type::Group | Type::Enum) {
        names.insert(field.type_name().to_owned());
    }
    if let Some(extended) = field.extendee.as_ref() {
        names.insert(extended.clone());
    }
}
