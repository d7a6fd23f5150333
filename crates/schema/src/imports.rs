//! Public imports, made explicit.

use std::collections::{BTreeMap, BTreeSet};

use prost_types::FileDescriptorProto;

/// Adds to each file's imports those that its imports import publicly, at any depth. prost-reflect follows such imports only
/// one step, and forever in a cycle.
pub(crate) fn make_explicit(files: &mut [FileDescriptorProto]) {
    let public: BTreeMap<String, Vec<String>> =
        files.iter().map(|file| (file.name().to_owned(), public_imports(file))).collect();
    for file in files {
        let mut known: BTreeSet<String> = file.dependency.iter().cloned().collect();
        let mut at = 0;
        while let Some(import) = file.dependency.get(at) {
            let more = public.get(import).into_iter().flatten();
            let more: Vec<String> = more.filter(|name| !known.contains(*name)).cloned().collect();
            known.extend(more.iter().cloned());
            file.dependency.extend(more);
            at += 1;
        }
        file.dependency.retain(|import| *import != *file.name.get_or_insert_default());
        file.public_dependency.clear();
        file.weak_dependency.clear();
    }
}

fn public_imports(file: &FileDescriptorProto) -> Vec<String> {
    let at = |index: &i32| usize::try_from(*index).ok().and_then(|it| file.dependency.get(it));
    file.public_dependency.iter().filter_map(at).cloned().collect()
}

#[cfg(test)]
mod tests {
    use prost_types::FileDescriptorSet;

    use super::*;
    use crate::Schema;

    #[test]
    fn public_imports_in_a_circle_have_an_end() {
        let file = |name: &str, import: &str| FileDescriptorProto {
            name: Some(name.to_owned()),
            dependency: vec![import.to_owned()],
            public_dependency: vec![0],
            ..FileDescriptorProto::default()
        };
        let mut files = [file("a", "b"), file("b", "c"), file("c", "b"), file("d", "d")];
        make_explicit(&mut files);
        let imports = files.clone().map(|file| file.dependency.concat());
        assert_eq!(imports, ["bc", "c", "b", ""]);
        Schema::of_descriptors(FileDescriptorSet { file: files.into() }).unwrap();
    }
}
