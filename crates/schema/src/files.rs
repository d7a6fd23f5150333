//! Reads schemas from files: `.proto` sources, and descriptor sets.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;
use prost_types::FileDescriptorProto;
use protox::Compiler;
use protox::file::{ChainFileResolver, FileResolver as _, GoogleFileResolver, IncludeFileResolver};
use rpcbench_record::regular;

use crate::{Schema, SchemaError};

/// An encoded `FileDescriptorSet` whose files are not decoded.
#[derive(Clone, PartialEq, Message)]
struct RawSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

impl Schema {
    /// Compiles `.proto` files, and reads descriptor sets, as `protoc --include_imports --descriptor_set_out` and `buf build`
    /// write them. Imports are looked up in `folders`, in the current folder, and in those above each file.
    ///
    /// # Errors
    /// If a file can't be compiled or is invalid: the file, the line, what is wrong.
    pub fn read(
        protos: &[PathBuf],
        folders: &[PathBuf],
        protosets: &[PathBuf],
    ) -> Result<Self, SchemaError> {
        let mut raw = Vec::new();
        for file in protos {
            readable(file)?;
            raw.extend(compiled(file, folders)?);
        }
        for path in protosets {
            let bytes = content(path)?;
            let problem = "no descriptor set; write one with protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE";
            let invalid = || SchemaError::Invalid(format!("{}: {problem}", path.display()));
            raw.extend(files_of(&bytes).ok_or_else(invalid)?);
        }
        Self::of_files(&raw)
    }

    /// A schema of an encoded descriptor set.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn of_protoset(bytes: &[u8]) -> Result<Self, SchemaError> {
        Self::of_files(&files_of(bytes).unwrap_or_default())
    }
}

/// The encoded files of a descriptor set. `None` if it is not one.
fn files_of(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    RawSet::decode(bytes).ok().map(|set| set.files).filter(|files| !files.is_empty())
}

/// Compiles a file; returns it and its imports, encoded.
fn compiled(file: &Path, folders: &[PathBuf]) -> Result<Vec<Vec<u8>>, SchemaError> {
    let mut first_problem = None;
    for root in roots(file, folders) {
        let mut compiler = Compiler::with_file_resolver(resolver(&root, folders));
        compiler.include_imports(true);
        match compiler.open_file(file) {
            Ok(_) => {
                let set = compiler.file_descriptor_set();
                return Ok(set.file.iter().map(Message::encode_to_vec).collect());
            }
            Err(error) => match parsed(file, &resolver(&root, folders)) {
                Some(files) if Schema::of_files(&files).is_ok() => return Ok(files),
                _ => first_problem = first_problem.or(Some(problem(&error))),
            },
        }
    }
    let problem = first_problem.unwrap_or_default();
    let editions = fs::read_to_string(file)
        .is_ok_and(|text| text.contains("\nedition ") || text.starts_with("edition "));
    Err(SchemaError::Invalid(match editions {
        true => format!(
            "{}: sources of an edition can't be compiled; give --protoset FILE, which protoc or buf writes, or let the server describe itself by reflection",
            file.display()
        ),
        false => problem,
    }))
}

/// Looks up imports: below `root`, in `folders`, in the current folder, among protobuf's own files.
fn resolver(root: &Path, folders: &[PathBuf]) -> ChainFileResolver {
    let mut resolver = ChainFileResolver::new();
    let others = folders.iter().cloned().chain([PathBuf::from(".")]);
    // A user may name a file instead of its folder.
    let others = others.map(|it| if it.is_file() { parent(&it) } else { it });
    for folder in std::iter::once(root.to_owned()).chain(others) {
        resolver.add(IncludeFileResolver::new(folder));
    }
    resolver.add(GoogleFileResolver::new());
    resolver
}

/// The file and its imports as written, encoded, if some imports are public: the compiler follows those only one step.
fn parsed(file: &Path, resolver: &ChainFileResolver) -> Option<Vec<Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut wanted = vec![resolver.resolve_path(file)?];
    while let Some(name) = wanted.pop() {
        if let Entry::Vacant(entry) = files.entry(name) {
            let file = FileDescriptorProto::from(resolver.open_file(entry.key()).ok()?);
            wanted.extend(file.dependency.iter().cloned());
            entry.insert(file);
        }
    }
    let some_public = files.values().any(|file| !file.public_dependency.is_empty());
    some_public.then(|| files.values().map(Message::encode_to_vec).collect())
}

/// Folders that a file's imports may be relative to: those given, its own, and those above it.
fn roots(file: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let given = folders.iter().filter(|folder| file.starts_with(folder)).cloned();
    let above = file.ancestors().skip(1).map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    });
    given.chain(above).collect()
}

fn parent(file: &Path) -> PathBuf {
    file.parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// The position and the problem, in one line.
fn problem(error: &protox::Error) -> String {
    let text = format!("{error:?}");
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

fn readable(file: &Path) -> Result<(), SchemaError> {
    match std::str::from_utf8(&content(file)?) {
        Ok(_) => Ok(()),
        Err(_) => Err(SchemaError::Invalid(format!(
            "{}: no text, so no .proto file; give a descriptor set with --protoset",
            file.display()
        ))),
    }
}

fn content(path: &Path) -> Result<Vec<u8>, SchemaError> {
    regular::read_named(path, u64::MAX)
        .map_err(|error| SchemaError::Unreadable { path: path.to_owned(), error })
}
