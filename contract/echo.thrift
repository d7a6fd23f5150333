// The service that every Thrift server under test implements: the twin of echo.proto, with the same names and field numbers.
// README.md in this folder says what each method must do, and what differs from echo.proto.

namespace cpp rpcbench.v1
namespace go rpcbench.v1
namespace java dev.rpcbench.v1
namespace js rpcbench.v1
namespace netstd Rpcbench.V1
namespace py rpcbench.v1
namespace rs rpcbench.v1

// 40 flat fields, about 640 bytes if all are set, 555 in the compact protocol.
struct FlatRecord {
  1: string field1
  2: i32 field2
  3: i32 field3
  4: string field4
  5: list<i64> field5
  6: i32 field6
  7: string field7
  9: string field9
  12: bool field12
  13: bool field13
  14: bool field14
  16: i32 field16
  17: bool field17
  18: string field18
  22: i64 field22
  23: i32 field23
  24: bool field24
  25: i32 field25
  29: i32 field29
  30: bool field30
  59: bool field59
  60: i32 field60
  67: i32 field67
  68: i32 field68
  78: bool field78
  80: bool field80
  81: bool field81
  100: i32 field100
  101: i32 field101
  102: string field102
  103: string field103
  104: i32 field104
  128: i32 field128
  129: string field129
  130: i32 field130
  131: i32 field131
  150: i32 field150
  271: i32 field271
  272: i32 field272
  280: i32 field280
}

struct PropertyDto {
  1: string prop1
  2: string prop2
  3: string prop3
  4: i32 prop4
  5: i32 prop5
  6: i32 prop6
  7: double prop7
  8: double prop8
  9: double prop9
  10: bool prop10
  11: bool prop11
  12: bool prop12
}

enum Status {
  STATUS_UNSPECIFIED = 0
  STATUS_ACTIVE = 1
  STATUS_SUSPENDED = 2
  STATUS_CLOSED = 3
}

struct Tag {
  1: string key
  2: string value
}

// Unsigned 64-bit integers of echo.proto travel in an i64.
struct Branch {
  1: string name
  2: i64 id
  3: list<Tag> tags
}

union Contact {
  10: string email
  11: i64 phone
}

// In Thrift a union is a separate struct: it has the number of its first member, and 11 is unused.
struct TreeNode {
  1: string name
  2: binary digest
  3: i32 age
  4: i64 balance
  5: i64 serial
  6: double score
  7: double ratio
  8: bool active
  9: Status status
  10: optional Contact contact
  12: optional Branch left
  13: optional Branch right
  14: map<string, i64> counters
}

struct TextRequest {
  1: string text
}

struct TextReply {
  2: string echo
}

struct RecordRequest {
  1: FlatRecord record
}

struct RecordReply {
  2: FlatRecord echo
}

struct DtoRequest {
  1: PropertyDto dto
}

struct DtoReply {
  2: PropertyDto echo
}

struct TreeRequest {
  1: TreeNode tree
}

struct TreeReply {
  2: TreeNode echo
}

service Echo {
  TextReply Text(1: TextRequest request)
  RecordReply Record(1: RecordRequest request)
  DtoReply Dto(1: DtoRequest request)
  TreeReply Tree(1: TreeRequest request)
}
