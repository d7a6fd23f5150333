//! The contract's messages, shared by the JSON servers and clients in Rust. In JSON 64-bit integers are decimal strings, and bytes
//! are base64.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_with::{DisplayFromStr, base64::Base64, serde_as};

#[derive(Deserialize, PartialEq, Serialize)]
pub struct TextRequest {
    pub text: String,
}

#[derive(Deserialize, PartialEq, Serialize)]
pub struct RecordRequest {
    pub record: FlatRecord,
}

#[derive(Deserialize, PartialEq, Serialize)]
pub struct DtoRequest {
    pub dto: PropertyDto,
}

#[derive(Deserialize, PartialEq, Serialize)]
pub struct TreeRequest {
    pub tree: TreeNode,
}

/// The reply of every method.
#[derive(Deserialize, PartialEq, Serialize)]
pub struct Reply<T> {
    pub echo: T,
}

#[serde_as]
#[derive(Deserialize, PartialEq, Serialize)]
pub struct FlatRecord {
    pub field1: String,
    field2: i32,
    field3: i32,
    field4: String,
    #[serde_as(as = "Vec<DisplayFromStr>")]
    field5: Vec<u64>,
    field6: i32,
    field7: String,
    field9: String,
    field12: bool,
    field13: bool,
    field14: bool,
    field16: i32,
    field17: bool,
    field18: String,
    #[serde_as(as = "DisplayFromStr")]
    field22: i64,
    field23: i32,
    field24: bool,
    field25: i32,
    field29: i32,
    field30: bool,
    field59: bool,
    field60: i32,
    field67: i32,
    field68: i32,
    field78: bool,
    field80: bool,
    field81: bool,
    field100: i32,
    field101: i32,
    field102: String,
    field103: String,
    field104: i32,
    field128: i32,
    field129: String,
    field130: i32,
    field131: i32,
    field150: i32,
    field271: i32,
    field272: i32,
    field280: i32,
}

#[derive(Deserialize, PartialEq, Serialize)]
pub struct PropertyDto {
    pub prop1: String,
    prop2: String,
    prop3: String,
    prop4: i32,
    prop5: i32,
    prop6: i32,
    prop7: f64,
    prop8: f64,
    prop9: f64,
    prop10: bool,
    prop11: bool,
    prop12: bool,
}

#[derive(Deserialize, PartialEq, Serialize)]
enum Status {
    #[serde(rename = "STATUS_UNSPECIFIED")]
    Unspecified,
    #[serde(rename = "STATUS_ACTIVE")]
    Active,
    #[serde(rename = "STATUS_SUSPENDED")]
    Suspended,
    #[serde(rename = "STATUS_CLOSED")]
    Closed,
}

#[derive(Deserialize, PartialEq, Serialize)]
struct Tag {
    key: String,
    value: String,
}

#[serde_as]
#[derive(Deserialize, PartialEq, Serialize)]
struct Branch {
    name: String,
    #[serde_as(as = "DisplayFromStr")]
    id: u64,
    tags: Vec<Tag>,
}

#[serde_as]
#[derive(Deserialize, PartialEq, Serialize)]
pub struct TreeNode {
    pub name: String,
    #[serde_as(as = "Base64")]
    digest: Vec<u8>,
    age: i32,
    #[serde_as(as = "DisplayFromStr")]
    balance: i64,
    #[serde_as(as = "DisplayFromStr")]
    serial: u64,
    score: f64,
    ratio: f32,
    active: bool,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde_as(as = "Option<DisplayFromStr>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phone: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<Branch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<Branch>,
    #[serde_as(as = "HashMap<_, DisplayFromStr>")]
    counters: HashMap<String, i64>,
}

impl TreeNode {
    /// True if at most one member of the oneof is set.
    pub fn has_one_contact(&self) -> bool {
        self.email.is_none() || self.phone.is_none()
    }
}
