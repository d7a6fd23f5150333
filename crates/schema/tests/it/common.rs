//! Schemas of tests.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;

use rpcbench_schema::{Method, Schema};
use tempfile::TempDir;

pub const SHOP: &str = r#"
syntax = "proto3";
package shop.v1;
import "shop/money.proto";
import "google/protobuf/any.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

service Orders {
  rpc Get(GetRequest) returns (Order);
  rpc Put(Order) returns (Order);
  rpc Watch(GetRequest) returns (stream Order);
}

service Carts {
  rpc Get(GetRequest) returns (Order);
}

message GetRequest { string id = 1; }

message Order {
  enum State { OPEN = 0; PAID = 1; }
  string id = 1;
  State state = 2;
  repeated Money prices = 3;
  map<string, int32> items = 4;
  oneof contact { string mail = 5; int64 phone = 6; }
  google.protobuf.Timestamp created = 7;
  google.protobuf.StringValue note = 8;
  bytes image = 9;
  optional uint64 weight = 10;
  google.protobuf.Any extra = 11;
  map<int32, Money> floors = 12;
}
"#;

pub const MONEY: &str = r#"
syntax = "proto3";
package shop.v1;
message Money { string currency = 1; double amount = 2; }
"#;

/// A folder with the files of a shop.
pub fn shop() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shop")).unwrap();
    let file = folder.path().join("shop/orders.proto");
    fs::write(&file, SHOP).unwrap();
    fs::write(folder.path().join("shop/money.proto"), MONEY).unwrap();
    (folder, file)
}

pub fn schema() -> Schema {
    let (_folder, file) = shop();
    Schema::read(&[file], &[], &[]).unwrap()
}

pub fn method(name: &str) -> Method {
    schema().method(name).unwrap()
}

/// A schema in proto2.
pub fn proto2() -> Schema {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("parts.proto");
    let text = r#"
        syntax = "proto2";
        service Parts { rpc Put(Part) returns (Part); }
        message Part {
          enum Kind { BOLT = 1; NUT = 2; }
          required string name = 1;
          optional int32 size = 2 [default = 7];
          optional Kind kind = 3 [default = NUT];
          optional string unit = 4 [default = "mm"];
          repeated Part parts = 5;
          optional group Origin = 6 { optional string country = 1; }
          oneof made { int64 year = 7; bool used = 8; }
        }"#;
    fs::write(&file, text).unwrap();
    Schema::read(&[file], &[], &[]).unwrap()
}
