//! protobuf requires strings to be UTF-8. pilota does not check them, so the service does.

use pilota::FastStr;

use crate::volo_gen::rpcbench::v1::{
    Branch, FlatRecord, PropertyDto, Tag, TreeNode, tree_node::Contact,
};

/// A message with strings.
pub trait Utf8 {
    /// True if all of them are UTF-8.
    fn is_utf8(&self) -> bool;
}

impl Utf8 for FastStr {
    fn is_utf8(&self) -> bool {
        str::from_utf8(self.as_bytes()).is_ok()
    }
}

impl<T: Utf8> Utf8 for Option<T> {
    fn is_utf8(&self) -> bool {
        self.as_ref().is_none_or(T::is_utf8)
    }
}

impl Utf8 for FlatRecord {
    fn is_utf8(&self) -> bool {
        let Self { field1, field4, field7, field9, field18, field102, field103, field129, .. } =
            self;
        [field1, field4, field7, field9, field18, field102, field103, field129]
            .into_iter()
            .all(Utf8::is_utf8)
    }
}

impl Utf8 for PropertyDto {
    fn is_utf8(&self) -> bool {
        [&self.prop1, &self.prop2, &self.prop3].into_iter().all(Utf8::is_utf8)
    }
}

impl Utf8 for TreeNode {
    fn is_utf8(&self) -> bool {
        self.name.is_utf8()
            && self.contact.is_utf8()
            && self.left.is_utf8()
            && self.right.is_utf8()
            && self.counters.keys().all(Utf8::is_utf8)
    }
}

impl Utf8 for Contact {
    fn is_utf8(&self) -> bool {
        match self {
            Self::Email(email) => email.is_utf8(),
            Self::Phone(_) => true,
        }
    }
}

impl Utf8 for Branch {
    fn is_utf8(&self) -> bool {
        self.name.is_utf8() && self.tags.iter().all(Utf8::is_utf8)
    }
}

impl Utf8 for Tag {
    fn is_utf8(&self) -> bool {
        self.key.is_utf8() && self.value.is_utf8()
    }
}
