//! Conversion between values and the messages that prost encodes.

use super::pb;
use crate::values::{Branch, Contact, FlatRecord, PropertyDto, Tag, TreeNode};

/// Conversions between messages with the same field names; the fields in `options` and `lists` are converted too.
macro_rules! mirrors {
    ($name:ident { $($field:ident),* $(,)? } options { $($option:ident),* } lists { $($list:ident),* }) => {
        mirrors!(@from $name, pb::$name, [$($field)*] [$($option)*] [$($list)*]);
        mirrors!(@from pb::$name, $name, [$($field)*] [$($option)*] [$($list)*]);
    };
    ($name:ident { $($field:ident),* $(,)? }) => {
        mirrors!($name { $($field),* } options {} lists {});
    };
    (@from $from:ty, $to:ty, [$($field:ident)*] [$($option:ident)*] [$($list:ident)*]) => {
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                Self {
                    $($field: from.$field,)*
                    $($option: from.$option.map(Into::into),)*
                    $($list: from.$list.into_iter().map(Into::into).collect(),)*
                }
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

mirrors!(Branch { name, id } options {} lists { tags });

mirrors!(TreeNode {
    name, digest, age, balance, serial, score, ratio, active, status, counters
} options { contact, left, right } lists {});

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
