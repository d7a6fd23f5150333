# frozen_string_literal: true

# The contract's messages: each a Struct with the types of its members, which convert from the result of JSON.parse and
# to the input of JSON.generate. In JSON, 64-bit integers are decimal strings, and bytes are base64.
module Messages
  # The input is not such a message.
  class Invalid < StandardError; end

  # `struct`: the class of a message's values.
  Type = Struct.new(:decode, :encode, :struct) do
    # A type whose values are the same in JSON, of the given classes, if the block accepts them.
    def self.plain(name, *classes, &valid)
      decode = lambda do |value|
        is_valid = classes.any? { |kind| kind === value } && (valid.nil? || valid.call(value))
        is_valid ? value : raise(Invalid, "not a valid #{name}")
      end
      new(decode, :itself.to_proc)
    end

    # An integer in a range; a string in JSON.
    def self.decimal(name, range)
      decode = lambda do |text|
        value = text.is_a?(String) && /\A-?\d+\z/.match?(text) && text.to_i
        value && range.cover?(value) ? value : raise(Invalid, "not a valid #{name}")
      end
      new(decode, :to_s.to_proc)
    end

    def self.bytes
      decode = lambda do |text|
        text.is_a?(String) ? text.unpack1("m0") : raise(Invalid, "not base64")
      rescue ArgumentError
        raise Invalid, "not base64"
      end
      new(decode, ->(bytes) { [bytes].pack("m0") })
    end

    def self.enum(*names)
      by_name = names.to_h { |name| [name, name.to_sym] }
      new(->(name) { by_name.fetch(name) { raise Invalid, "unknown enum value" } }, :name.to_proc)
    end
  end

  def self.list(type)
    decode = lambda do |values|
      values.is_a?(Array) ? values.map(&type.decode) : raise(Invalid, "not a list")
    end
    Type.new(decode, ->(values) { values.map(&type.encode) })
  end

  def self.map(type)
    decode = lambda do |entries|
      raise Invalid, "not a map" unless entries.is_a?(Hash)

      entries.to_h { |key, value| [STRING.decode.call(key), type.decode.call(value)] }
    end
    Type.new(decode, ->(entries) { entries.transform_values(&type.encode) })
  end

  # A message type with all of `members` and any of `optional`. The block refuses invalid combinations.
  def self.message(optional: {}, **members, &check)
    types = members.merge(optional)
    struct = Struct.new(*types.keys, keyword_init: true)
    keys = types.to_h { |name, type| [name.name, [name, type.decode]] }
    encoders = types.transform_values(&:encode)
    decode = lambda do |object|
      raise Invalid, "not an object" unless object.is_a?(Hash)

      message = struct.new
      object.each do |key, value|
        name, decoder = keys[key]
        message[name] = decoder.call(value) if name
      end
      raise Invalid, "a member is missing" if members.any? { |name, _| message[name].nil? }

      check&.call(message)
      message
    end
    encode = lambda do |message|
      encoders.each_with_object({}) do |(name, encoder), object|
        value = message[name]
        object[name] = encoder.call(value) unless value.nil?
      end
    end
    Type.new(decode, encode, struct)
  end

  STRING = Type.plain("string", String, &:valid_encoding?)
  INT32 = Type.plain("int32", Integer) { |value| (-2**31...2**31).cover?(value) }
  INT64 = Type.decimal("int64", -2**63...2**63)
  UINT64 = Type.decimal("uint64", 0...2**64)
  DOUBLE = Type.plain("double", Float, Integer)
  BOOL = Type.plain("bool", TrueClass, FalseClass)
  BYTES = Type.bytes

  FLAT_RECORD = message(
    field1: STRING,
    field2: INT32,
    field3: INT32,
    field4: STRING,
    field5: list(UINT64),
    field6: INT32,
    field7: STRING,
    field9: STRING,
    field12: BOOL,
    field13: BOOL,
    field14: BOOL,
    field16: INT32,
    field17: BOOL,
    field18: STRING,
    field22: INT64,
    field23: INT32,
    field24: BOOL,
    field25: INT32,
    field29: INT32,
    field30: BOOL,
    field59: BOOL,
    field60: INT32,
    field67: INT32,
    field68: INT32,
    field78: BOOL,
    field80: BOOL,
    field81: BOOL,
    field100: INT32,
    field101: INT32,
    field102: STRING,
    field103: STRING,
    field104: INT32,
    field128: INT32,
    field129: STRING,
    field130: INT32,
    field131: INT32,
    field150: INT32,
    field271: INT32,
    field272: INT32,
    field280: INT32
  )

  PROPERTY_DTO = message(
    prop1: STRING,
    prop2: STRING,
    prop3: STRING,
    prop4: INT32,
    prop5: INT32,
    prop6: INT32,
    prop7: DOUBLE,
    prop8: DOUBLE,
    prop9: DOUBLE,
    prop10: BOOL,
    prop11: BOOL,
    prop12: BOOL
  )

  STATUS = Type.enum("STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_SUSPENDED", "STATUS_CLOSED")

  TAG = message(key: STRING, value: STRING)

  BRANCH = message(name: STRING, id: UINT64, tags: list(TAG))

  TREE_NODE = message(
    name: STRING,
    digest: BYTES,
    age: INT32,
    balance: INT64,
    serial: UINT64,
    score: DOUBLE,
    ratio: DOUBLE,
    active: BOOL,
    status: STATUS,
    counters: map(INT64),
    optional: { email: STRING, phone: UINT64, left: BRANCH, right: BRANCH }
  ) do |tree|
    raise Invalid, "email and phone exclude each other" if tree.email && tree.phone
  end

  TEXT_REQUEST = message(text: STRING)
  TEXT_REPLY = message(echo: STRING)
  RECORD_REQUEST = message(record: FLAT_RECORD)
  RECORD_REPLY = message(echo: FLAT_RECORD)
  DTO_REQUEST = message(dto: PROPERTY_DTO)
  DTO_REPLY = message(echo: PROPERTY_DTO)
  TREE_REQUEST = message(tree: TREE_NODE)
  TREE_REPLY = message(echo: TREE_NODE)
end
