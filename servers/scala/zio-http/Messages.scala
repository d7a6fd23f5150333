// The contract's messages. In JSON 64-bit integers are decimal strings, and bytes are base64.
package dev.rpcbench.ziohttp

import com.github.plokhotnyuk.jsoniter_scala.core.{JsonReader, JsonValueCodec, JsonWriter}
import com.github.plokhotnyuk.jsoniter_scala.macros.JsonCodecMaker
import java.lang.Long as JLong
import java.util.Base64

case class TextRequest(text: String)
case class TextReply(echo: String)

case class RecordRequest(record: FlatRecord)
case class RecordReply(echo: FlatRecord)

case class DtoRequest(dto: PropertyDto)
case class DtoReply(echo: PropertyDto)

case class TreeRequest(tree: TreeNode)
case class TreeReply(echo: TreeNode)

case class FlatRecord(
    field1: String,
    field2: Int,
    field3: Int,
    field4: String,
    field5: List[Uint64],
    field6: Int,
    field7: String,
    field9: String,
    field12: Boolean,
    field13: Boolean,
    field14: Boolean,
    field16: Int,
    field17: Boolean,
    field18: String,
    field22: Int64,
    field23: Int,
    field24: Boolean,
    field25: Int,
    field29: Int,
    field30: Boolean,
    field59: Boolean,
    field60: Int,
    field67: Int,
    field68: Int,
    field78: Boolean,
    field80: Boolean,
    field81: Boolean,
    field100: Int,
    field101: Int,
    field102: String,
    field103: String,
    field104: Int,
    field128: Int,
    field129: String,
    field130: Int,
    field131: Int,
    field150: Int,
    field271: Int,
    field272: Int,
    field280: Int
)

case class PropertyDto(
    prop1: String,
    prop2: String,
    prop3: String,
    prop4: Int,
    prop5: Int,
    prop6: Int,
    prop7: Double,
    prop8: Double,
    prop9: Double,
    prop10: Boolean,
    prop11: Boolean,
    prop12: Boolean
)

enum Status:
  case STATUS_UNSPECIFIED, STATUS_ACTIVE, STATUS_SUSPENDED, STATUS_CLOSED

case class Tag(key: String, value: String)

case class Branch(name: String, id: Uint64, tags: List[Tag])

case class TreeNode(
    name: String,
    digest: Array[Byte],
    age: Int,
    balance: Int64,
    serial: Uint64,
    score: Double,
    ratio: Float,
    active: Boolean,
    status: Status,
    email: Option[String],
    phone: Option[Uint64],
    left: Option[Branch],
    right: Option[Branch],
    counters: Map[String, Int64]
):
  require(email.isEmpty || phone.isEmpty, "email and phone exclude each other")

/** 64-bit integers, signed and unsigned. */
case class Int64(bits: Long) extends AnyVal
case class Uint64(bits: Long) extends AnyVal

/** For values that are strings in JSON. The library's readers of numbers in strings and of base64 accept no escapes. */
private class StringCodec[A](val nullValue: A, print: A => String, parse: String => A) extends JsonValueCodec[A]:
  def encodeValue(value: A, out: JsonWriter): Unit = out.writeVal(print(value))
  def decodeValue(in: JsonReader, default: A): A =
    try parse(in.readString(null))
    catch case error: IllegalArgumentException => in.decodeError(error.getMessage)

given JsonValueCodec[Int64] =
  StringCodec(Int64(0), number => JLong.toString(number.bits), text => Int64(JLong.parseLong(text)))
given JsonValueCodec[Uint64] =
  StringCodec(Uint64(0), number => JLong.toUnsignedString(number.bits), text => Uint64(JLong.parseUnsignedLong(text)))
given JsonValueCodec[Array[Byte]] =
  StringCodec(Array.emptyByteArray, Base64.getEncoder.encodeToString(_), Base64.getDecoder.decode(_))

given JsonValueCodec[TextRequest] = JsonCodecMaker.make
given JsonValueCodec[TextReply] = JsonCodecMaker.make
given JsonValueCodec[RecordRequest] = JsonCodecMaker.make
given JsonValueCodec[RecordReply] = JsonCodecMaker.make
given JsonValueCodec[DtoRequest] = JsonCodecMaker.make
given JsonValueCodec[DtoReply] = JsonCodecMaker.make
// Enum values are strings; with a discriminator they would be objects.
given JsonValueCodec[TreeRequest] = JsonCodecMaker.makeWithoutDiscriminator
given JsonValueCodec[TreeReply] = JsonCodecMaker.makeWithoutDiscriminator
