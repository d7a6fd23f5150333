%% The contract's messages. In JSON, 64-bit integers are decimal strings, and bytes are base64.
-module(messages).

-export([decode/2, encode/1, has_tiny_double/1]).

-type int32() :: -16#80000000..16#7fffffff.
-type int64() :: -16#8000000000000000..16#7fffffffffffffff.
-type uint64() :: 0..16#ffffffffffffffff.
-type status() :: unspecified | active | suspended | closed.

-record(flat_record, {
    field1 :: binary(),
    field2 :: int32(),
    field3 :: int32(),
    field4 :: binary(),
    field5 :: [uint64()],
    field6 :: int32(),
    field7 :: binary(),
    field9 :: binary(),
    field12 :: boolean(),
    field13 :: boolean(),
    field14 :: boolean(),
    field16 :: int32(),
    field17 :: boolean(),
    field18 :: binary(),
    field22 :: int64(),
    field23 :: int32(),
    field24 :: boolean(),
    field25 :: int32(),
    field29 :: int32(),
    field30 :: boolean(),
    field59 :: boolean(),
    field60 :: int32(),
    field67 :: int32(),
    field68 :: int32(),
    field78 :: boolean(),
    field80 :: boolean(),
    field81 :: boolean(),
    field100 :: int32(),
    field101 :: int32(),
    field102 :: binary(),
    field103 :: binary(),
    field104 :: int32(),
    field128 :: int32(),
    field129 :: binary(),
    field130 :: int32(),
    field131 :: int32(),
    field150 :: int32(),
    field271 :: int32(),
    field272 :: int32(),
    field280 :: int32()
}).

-record(property_dto, {
    prop1 :: binary(),
    prop2 :: binary(),
    prop3 :: binary(),
    prop4 :: int32(),
    prop5 :: int32(),
    prop6 :: int32(),
    prop7 :: float(),
    prop8 :: float(),
    prop9 :: float(),
    prop10 :: boolean(),
    prop11 :: boolean(),
    prop12 :: boolean()
}).

-record(tag, {
    key :: binary(),
    value :: binary()
}).

-record(branch, {
    name :: binary(),
    id :: uint64(),
    tags :: [#tag{}]
}).

-record(tree_node, {
    name :: binary(),
    digest :: binary(),
    age :: int32(),
    balance :: int64(),
    serial :: uint64(),
    score :: float(),
    ratio :: float(),
    active :: boolean(),
    status :: status(),
    contact :: undefined | {email, binary()} | {phone, uint64()},
    left :: undefined | #branch{},
    right :: undefined | #branch{},
    counters :: #{binary() => int64()}
}).

-type content() :: binary() | #flat_record{} | #property_dto{} | #tree_node{}.

-define(IS_INT32(Value), is_integer(Value), Value >= -16#80000000, Value =< 16#7fffffff).

%% Returns the content of a request, whose JSON was decoded into maps. Fails if that is not a valid message.
-spec decode(text | record | dto | tree, map()) -> content().
decode(text, #{<<"text">> := Text}) when is_binary(Text) -> Text;
decode(record, #{<<"record">> := Record}) -> flat_record(Record);
decode(dto, #{<<"dto">> := Dto}) -> property_dto(Dto);
decode(tree, #{<<"tree">> := Tree}) -> tree_node(Tree).

flat_record(#{
    <<"field1">> := Field1,
    <<"field2">> := Field2,
    <<"field3">> := Field3,
    <<"field4">> := Field4,
    <<"field5">> := Field5,
    <<"field6">> := Field6,
    <<"field7">> := Field7,
    <<"field9">> := Field9,
    <<"field12">> := Field12,
    <<"field13">> := Field13,
    <<"field14">> := Field14,
    <<"field16">> := Field16,
    <<"field17">> := Field17,
    <<"field18">> := Field18,
    <<"field22">> := Field22,
    <<"field23">> := Field23,
    <<"field24">> := Field24,
    <<"field25">> := Field25,
    <<"field29">> := Field29,
    <<"field30">> := Field30,
    <<"field59">> := Field59,
    <<"field60">> := Field60,
    <<"field67">> := Field67,
    <<"field68">> := Field68,
    <<"field78">> := Field78,
    <<"field80">> := Field80,
    <<"field81">> := Field81,
    <<"field100">> := Field100,
    <<"field101">> := Field101,
    <<"field102">> := Field102,
    <<"field103">> := Field103,
    <<"field104">> := Field104,
    <<"field128">> := Field128,
    <<"field129">> := Field129,
    <<"field130">> := Field130,
    <<"field131">> := Field131,
    <<"field150">> := Field150,
    <<"field271">> := Field271,
    <<"field272">> := Field272,
    <<"field280">> := Field280
}) when
    is_binary(Field1),
    ?IS_INT32(Field2),
    ?IS_INT32(Field3),
    is_binary(Field4),
    is_list(Field5),
    ?IS_INT32(Field6),
    is_binary(Field7),
    is_binary(Field9),
    is_boolean(Field12),
    is_boolean(Field13),
    is_boolean(Field14),
    ?IS_INT32(Field16),
    is_boolean(Field17),
    is_binary(Field18),
    ?IS_INT32(Field23),
    is_boolean(Field24),
    ?IS_INT32(Field25),
    ?IS_INT32(Field29),
    is_boolean(Field30),
    is_boolean(Field59),
    ?IS_INT32(Field60),
    ?IS_INT32(Field67),
    ?IS_INT32(Field68),
    is_boolean(Field78),
    is_boolean(Field80),
    is_boolean(Field81),
    ?IS_INT32(Field100),
    ?IS_INT32(Field101),
    is_binary(Field102),
    is_binary(Field103),
    ?IS_INT32(Field104),
    ?IS_INT32(Field128),
    is_binary(Field129),
    ?IS_INT32(Field130),
    ?IS_INT32(Field131),
    ?IS_INT32(Field150),
    ?IS_INT32(Field271),
    ?IS_INT32(Field272),
    ?IS_INT32(Field280)
->
    #flat_record{
        field1 = Field1,
        field2 = Field2,
        field3 = Field3,
        field4 = Field4,
        field5 = [uint64(Number) || Number <- Field5],
        field6 = Field6,
        field7 = Field7,
        field9 = Field9,
        field12 = Field12,
        field13 = Field13,
        field14 = Field14,
        field16 = Field16,
        field17 = Field17,
        field18 = Field18,
        field22 = int64(Field22),
        field23 = Field23,
        field24 = Field24,
        field25 = Field25,
        field29 = Field29,
        field30 = Field30,
        field59 = Field59,
        field60 = Field60,
        field67 = Field67,
        field68 = Field68,
        field78 = Field78,
        field80 = Field80,
        field81 = Field81,
        field100 = Field100,
        field101 = Field101,
        field102 = Field102,
        field103 = Field103,
        field104 = Field104,
        field128 = Field128,
        field129 = Field129,
        field130 = Field130,
        field131 = Field131,
        field150 = Field150,
        field271 = Field271,
        field272 = Field272,
        field280 = Field280
    }.

property_dto(#{
    <<"prop1">> := Prop1,
    <<"prop2">> := Prop2,
    <<"prop3">> := Prop3,
    <<"prop4">> := Prop4,
    <<"prop5">> := Prop5,
    <<"prop6">> := Prop6,
    <<"prop7">> := Prop7,
    <<"prop8">> := Prop8,
    <<"prop9">> := Prop9,
    <<"prop10">> := Prop10,
    <<"prop11">> := Prop11,
    <<"prop12">> := Prop12
}) when
    is_binary(Prop1),
    is_binary(Prop2),
    is_binary(Prop3),
    ?IS_INT32(Prop4),
    ?IS_INT32(Prop5),
    ?IS_INT32(Prop6),
    is_number(Prop7),
    is_number(Prop8),
    is_number(Prop9),
    is_boolean(Prop10),
    is_boolean(Prop11),
    is_boolean(Prop12)
->
    #property_dto{
        prop1 = Prop1,
        prop2 = Prop2,
        prop3 = Prop3,
        prop4 = Prop4,
        prop5 = Prop5,
        prop6 = Prop6,
        prop7 = float(Prop7),
        prop8 = float(Prop8),
        prop9 = float(Prop9),
        prop10 = Prop10,
        prop11 = Prop11,
        prop12 = Prop12
    }.

tree_node(
    #{
        <<"name">> := Name,
        <<"digest">> := Digest,
        <<"age">> := Age,
        <<"balance">> := Balance,
        <<"serial">> := Serial,
        <<"score">> := Score,
        <<"ratio">> := Ratio,
        <<"active">> := Active,
        <<"status">> := Status,
        <<"counters">> := Counters
    } = Tree
) when is_binary(Name), ?IS_INT32(Age), is_number(Score), is_number(Ratio), is_boolean(Active), is_map(Counters) ->
    #tree_node{
        name = Name,
        digest = base64:decode(Digest),
        age = Age,
        balance = int64(Balance),
        serial = uint64(Serial),
        score = float(Score),
        ratio = float(Ratio),
        active = Active,
        status = status(Status),
        contact = contact(optional(<<"email">>, Tree), optional(<<"phone">>, Tree)),
        left = branch(optional(<<"left">>, Tree)),
        right = branch(optional(<<"right">>, Tree)),
        counters = maps:map(fun(_, Count) -> int64(Count) end, Counters)
    }.

contact(undefined, undefined) -> undefined;
contact(Email, undefined) when is_binary(Email) -> {email, Email};
contact(undefined, Phone) -> {phone, uint64(Phone)}.

branch(undefined) ->
    undefined;
branch(#{<<"name">> := Name, <<"id">> := Id, <<"tags">> := Tags}) when is_binary(Name), is_list(Tags) ->
    #branch{name = Name, id = uint64(Id), tags = [tag(Tag) || Tag <- Tags]}.

tag(#{<<"key">> := Key, <<"value">> := Value}) when is_binary(Key), is_binary(Value) ->
    #tag{key = Key, value = Value}.

status(<<"STATUS_UNSPECIFIED">>) -> unspecified;
status(<<"STATUS_ACTIVE">>) -> active;
status(<<"STATUS_SUSPENDED">>) -> suspended;
status(<<"STATUS_CLOSED">>) -> closed.

status_name(unspecified) -> <<"STATUS_UNSPECIFIED">>;
status_name(active) -> <<"STATUS_ACTIVE">>;
status_name(suspended) -> <<"STATUS_SUSPENDED">>;
status_name(closed) -> <<"STATUS_CLOSED">>.

int64(Text) -> within(binary_to_integer(Text), -16#8000000000000000, 16#7fffffffffffffff).

uint64(Text) -> within(binary_to_integer(Text), 0, 16#ffffffffffffffff).

within(Value, Min, Max) when Value >= Min, Value =< Max -> Value.

optional(Key, Map) ->
    case Map of
        #{Key := null} -> undefined;
        #{Key := Value} -> Value;
        #{} -> undefined
    end.

%% True if the content has a double so close to 0 that jiffy may have read it wrong.
-spec has_tiny_double(content()) -> boolean().
has_tiny_double(#property_dto{prop7 = Prop7, prop8 = Prop8, prop9 = Prop9}) ->
    is_tiny(Prop7) orelse is_tiny(Prop8) orelse is_tiny(Prop9);
has_tiny_double(#tree_node{score = Score, ratio = Ratio}) ->
    is_tiny(Score) orelse is_tiny(Ratio);
has_tiny_double(_) ->
    false.

is_tiny(Double) -> abs(Double) < 1.0e-307.

%% Converts a message's content to a term that jiffy encodes.
-spec encode(content()) -> jiffy:json_value().
encode(Text) when is_binary(Text) ->
    Text;
encode(#flat_record{} = Message) ->
    #{
        field1 => Message#flat_record.field1,
        field2 => Message#flat_record.field2,
        field3 => Message#flat_record.field3,
        field4 => Message#flat_record.field4,
        field5 => [integer_to_binary(Number) || Number <- Message#flat_record.field5],
        field6 => Message#flat_record.field6,
        field7 => Message#flat_record.field7,
        field9 => Message#flat_record.field9,
        field12 => Message#flat_record.field12,
        field13 => Message#flat_record.field13,
        field14 => Message#flat_record.field14,
        field16 => Message#flat_record.field16,
        field17 => Message#flat_record.field17,
        field18 => Message#flat_record.field18,
        field22 => integer_to_binary(Message#flat_record.field22),
        field23 => Message#flat_record.field23,
        field24 => Message#flat_record.field24,
        field25 => Message#flat_record.field25,
        field29 => Message#flat_record.field29,
        field30 => Message#flat_record.field30,
        field59 => Message#flat_record.field59,
        field60 => Message#flat_record.field60,
        field67 => Message#flat_record.field67,
        field68 => Message#flat_record.field68,
        field78 => Message#flat_record.field78,
        field80 => Message#flat_record.field80,
        field81 => Message#flat_record.field81,
        field100 => Message#flat_record.field100,
        field101 => Message#flat_record.field101,
        field102 => Message#flat_record.field102,
        field103 => Message#flat_record.field103,
        field104 => Message#flat_record.field104,
        field128 => Message#flat_record.field128,
        field129 => Message#flat_record.field129,
        field130 => Message#flat_record.field130,
        field131 => Message#flat_record.field131,
        field150 => Message#flat_record.field150,
        field271 => Message#flat_record.field271,
        field272 => Message#flat_record.field272,
        field280 => Message#flat_record.field280
    };
encode(#property_dto{} = Message) ->
    #{
        prop1 => Message#property_dto.prop1,
        prop2 => Message#property_dto.prop2,
        prop3 => Message#property_dto.prop3,
        prop4 => Message#property_dto.prop4,
        prop5 => Message#property_dto.prop5,
        prop6 => Message#property_dto.prop6,
        prop7 => Message#property_dto.prop7,
        prop8 => Message#property_dto.prop8,
        prop9 => Message#property_dto.prop9,
        prop10 => Message#property_dto.prop10,
        prop11 => Message#property_dto.prop11,
        prop12 => Message#property_dto.prop12
    };
encode(#tree_node{} = Tree) ->
    Members = #{
        name => Tree#tree_node.name,
        digest => base64:encode(Tree#tree_node.digest),
        age => Tree#tree_node.age,
        balance => integer_to_binary(Tree#tree_node.balance),
        serial => integer_to_binary(Tree#tree_node.serial),
        score => Tree#tree_node.score,
        ratio => Tree#tree_node.ratio,
        active => Tree#tree_node.active,
        status => status_name(Tree#tree_node.status),
        counters => maps:map(fun(_, Count) -> integer_to_binary(Count) end, Tree#tree_node.counters)
    },
    Contact = with_contact(Tree#tree_node.contact, Members),
    with_branch(right, Tree#tree_node.right, with_branch(left, Tree#tree_node.left, Contact));
encode(#branch{name = Name, id = Id, tags = Tags}) ->
    #{name => Name, id => integer_to_binary(Id), tags => [encode(Tag) || Tag <- Tags]};
encode(#tag{key = Key, value = Value}) ->
    #{key => Key, value => Value}.

with_contact(undefined, Members) -> Members;
with_contact({email, Email}, Members) -> Members#{email => Email};
with_contact({phone, Phone}, Members) -> Members#{phone => integer_to_binary(Phone)}.

with_branch(_, undefined, Members) -> Members;
with_branch(Side, Branch, Members) -> Members#{Side => encode(Branch)}.
