// The contract's messages as Zod schemas, for frameworks without their own validation. Decoding validates, and turns 64-bit integers
// into BigInts and bytes into Buffers; encoding is the reverse.
import * as z from 'zod';

const int64 = z.codec(z.string().regex(/^-?\d+$/), z.int64(), { decode: BigInt, encode: String });

const uint64 = z.codec(z.string().regex(/^\d+$/), z.uint64(), { decode: BigInt, encode: String });

const bytes = z.codec(z.base64(), z.instanceof(Buffer), {
  decode: (text) => Buffer.from(text, 'base64'),
  encode: (buffer) => buffer.toString('base64'),
});

const FlatRecord = z.object({
  field1: z.string(),
  field2: z.int32(),
  field3: z.int32(),
  field4: z.string(),
  field5: z.array(uint64),
  field6: z.int32(),
  field7: z.string(),
  field9: z.string(),
  field12: z.boolean(),
  field13: z.boolean(),
  field14: z.boolean(),
  field16: z.int32(),
  field17: z.boolean(),
  field18: z.string(),
  field22: int64,
  field23: z.int32(),
  field24: z.boolean(),
  field25: z.int32(),
  field29: z.int32(),
  field30: z.boolean(),
  field59: z.boolean(),
  field60: z.int32(),
  field67: z.int32(),
  field68: z.int32(),
  field78: z.boolean(),
  field80: z.boolean(),
  field81: z.boolean(),
  field100: z.int32(),
  field101: z.int32(),
  field102: z.string(),
  field103: z.string(),
  field104: z.int32(),
  field128: z.int32(),
  field129: z.string(),
  field130: z.int32(),
  field131: z.int32(),
  field150: z.int32(),
  field271: z.int32(),
  field272: z.int32(),
  field280: z.int32(),
});

const PropertyDto = z.object({
  prop1: z.string(),
  prop2: z.string(),
  prop3: z.string(),
  prop4: z.int32(),
  prop5: z.int32(),
  prop6: z.int32(),
  prop7: z.number(),
  prop8: z.number(),
  prop9: z.number(),
  prop10: z.boolean(),
  prop11: z.boolean(),
  prop12: z.boolean(),
});

const Tag = z.object({ key: z.string(), value: z.string() });

const Branch = z.object({ name: z.string(), id: uint64, tags: z.array(Tag) });

const TreeNode = z
  .object({
    name: z.string(),
    digest: bytes,
    age: z.int32(),
    balance: int64,
    serial: uint64,
    score: z.number(),
    ratio: z.number(),
    active: z.boolean(),
    status: z.enum(['STATUS_UNSPECIFIED', 'STATUS_ACTIVE', 'STATUS_SUSPENDED', 'STATUS_CLOSED']),
    email: z.string().optional(),
    phone: uint64.optional(),
    left: Branch.optional(),
    right: Branch.optional(),
    counters: z.record(z.string(), int64),
  })
  .refine((tree) => tree.email === undefined || tree.phone === undefined, 'email and phone exclude each other');

// Returns a method, which maps the parsed body of a request to the reply. It throws a ZodError if the body is not a request.
function method(shape, content) {
  const request = z.object({ [shape]: content });
  const reply = z.object({ echo: content });
  return (body) => z.encode(reply, { echo: z.decode(request, body)[shape] });
}

/** The contract's methods, by path. */
export const methods = {
  '/rpcbench.v1.Echo/Text': method('text', z.string()),
  '/rpcbench.v1.Echo/Record': method('record', FlatRecord),
  '/rpcbench.v1.Echo/Dto': method('dto', PropertyDto),
  '/rpcbench.v1.Echo/Tree': method('tree', TreeNode),
};
