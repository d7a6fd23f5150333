// The contract's messages as JSON schemas, from which Fastify compiles a validator for requests and a serialiser for replies.

/** Keywords for Ajv that decode strings in JSON to typed values, or refuse them. */
export const keywords = [
  parsing('int64', (text) => integer(text, (value) => BigInt.asIntN(64, value))),
  parsing('uint64', (text) => integer(text, (value) => BigInt.asUintN(64, value))),
  parsing('bytes', (text) => {
    const buffer = Buffer.from(text, 'base64');
    return buffer.toString('base64') === text ? buffer : undefined;
  }),
];

function parsing(keyword, parse) {
  const validate = (text, { parentData, parentDataProperty }) => {
    const value = parse(text);
    parentData[parentDataProperty] = value;
    return value !== undefined;
  };
  return { keyword, type: 'string', schema: false, modifying: true, errors: false, validate };
}

function integer(text, truncated) {
  if (!/^-?\d+$/.test(text)) {
    return undefined;
  }
  const value = BigInt(text);
  return truncated(value) === value ? value : undefined;
}

const string = { type: 'string' };
const int32 = { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const int64 = { type: 'string', int64: true };
const uint64 = { type: 'string', uint64: true };
const bytes = { type: 'string', bytes: true };
const number = { type: 'number' };
const boolean = { type: 'boolean' };
const list = (items) => ({ type: 'array', items });

// An object with all of `properties` and any of `optional`.
const object = (properties, optional = {}) => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
});

const flatRecord = object({
  field1: string,
  field2: int32,
  field3: int32,
  field4: string,
  field5: list(uint64),
  field6: int32,
  field7: string,
  field9: string,
  field12: boolean,
  field13: boolean,
  field14: boolean,
  field16: int32,
  field17: boolean,
  field18: string,
  field22: int64,
  field23: int32,
  field24: boolean,
  field25: int32,
  field29: int32,
  field30: boolean,
  field59: boolean,
  field60: int32,
  field67: int32,
  field68: int32,
  field78: boolean,
  field80: boolean,
  field81: boolean,
  field100: int32,
  field101: int32,
  field102: string,
  field103: string,
  field104: int32,
  field128: int32,
  field129: string,
  field130: int32,
  field131: int32,
  field150: int32,
  field271: int32,
  field272: int32,
  field280: int32,
});

const propertyDto = object({
  prop1: string,
  prop2: string,
  prop3: string,
  prop4: int32,
  prop5: int32,
  prop6: int32,
  prop7: number,
  prop8: number,
  prop9: number,
  prop10: boolean,
  prop11: boolean,
  prop12: boolean,
});

const branch = object({ name: string, id: uint64, tags: list(object({ key: string, value: string })) });

const treeNode = {
  ...object(
    {
      name: string,
      digest: bytes,
      age: int32,
      balance: int64,
      serial: uint64,
      score: number,
      ratio: number,
      active: boolean,
      status: { type: 'string', enum: ['STATUS_UNSPECIFIED', 'STATUS_ACTIVE', 'STATUS_SUSPENDED', 'STATUS_CLOSED'] },
      counters: { type: 'object', additionalProperties: int64 },
    },
    { email: string, phone: uint64, left: branch, right: branch },
  ),
  not: { required: ['email', 'phone'] },
};

const method = (shape, content) => ({
  body: object({ [shape]: content }),
  response: { 200: object({ echo: content }) },
});

/** The schema of each method's route. */
export const schemas = {
  text: method('text', string),
  record: method('record', flatRecord),
  dto: method('dto', propertyDto),
  tree: method('tree', treeNode),
};
