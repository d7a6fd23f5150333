//! Values as the messages that prost encodes, and back.

use super::pb;
use crate::values::{Branch, Contact, FlatRecord, PropertyDto, Tag, TreeNode};

/// Both ways between messages whose fields have the same names and types.
macro_rules! mirrors {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl From<$name> for pb::$name {
            fn from(value: $name) -> Self {
                Self { $($field: value.$field),* }
            }
        }

        impl From<pb::$name> for $name {
            fn from(message: pb::$name) -> Self {
                Self { $($field: message.$field),* }
            }
        }
    };
}

mirrors!(FlatRecord {
    field1,
    field2,
    field3,
    field4,
    field5,
    field6,
    field7,
    field9,
    field12,
    field13,
    field14,
    field16,
    field17,
    field18,
    field22,
    field23,
    field24,
    field25,
    field29,
    field30,
    field59,
    field60,
    field67,
    field68,
    field78,
    field80,
    field81,
    field100,
    field101,
    field102,
    field103,
    field104,
    field128,
    field129,
    field130,
    field131,
    field150,
    field271,
    field272,
    field280,
});

mirrors!(PropertyDto {
    prop1,
    prop2,
    prop3,
    prop4,
    prop5,
    prop6,
    prop7,
    prop8,
    prop9,
    prop10,
    prop11,
    prop12,
});

mirrors!(Tag { key, value });

impl From<Branch> for pb::Branch {
    fn from(Branch { name, id, tags }: Branch) -> Self {
        Self { name, id, tags: tags.into_iter().map(Into::into).collect() }
    }
}

impl From<pb::Branch> for Branch {
    fn from(pb::Branch { name, id, tags }: pb::Branch) -> Self {
        Self { name, id, tags: tags.into_iter().map(Into::into).collect() }
    }
}

impl From<Contact> for pb::tree_node::Contact {
    fn from(contact: Contact) -> Self {
        match contact {
            Contact::Email(email) => Self::Email(email),
            Contact::Phone(phone) => Self::Phone(phone),
        }
    }
}

impl From<pb::tree_node::Contact> for Contact {
    fn from(contact: pb::tree_node::Contact) -> Self {
        match contact {
            pb::tree_node::Contact::Email(email) => Self::Email(email),
            pb::tree_node::Contact::Phone(phone) => Self::Phone(phone),
        }
    }
}

impl From<TreeNode> for pb::TreeNode {
    fn from(tree: TreeNode) -> Self {
        Self {
            name: tree.name,
            digest: tree.digest,
            age: tree.age,
            balance: tree.balance,
            serial: tree.serial,
            score: tree.score,
            ratio: tree.ratio,
            active: tree.active,
            status: tree.status,
            contact: tree.contact.map(Into::into),
            left: tree.left.map(Into::into),
            right: tree.right.map(Into::into),
            counters: tree.counters,
        }
    }
}

impl From<pb::TreeNode> for TreeNode {
    fn from(tree: pb::TreeNode) -> Self {
        Self {
            name: tree.name,
            digest: tree.digest,
            age: tree.age,
            balance: tree.balance,
            serial: tree.serial,
            score: tree.score,
            ratio: tree.ratio,
            active: tree.active,
            status: tree.status,
            contact: tree.contact.map(Into::into),
            left: tree.left.map(Into::into),
            right: tree.right.map(Into::into),
            counters: tree.counters,
        }
    }
}
