package dev.rpcbench.http4s

import io.circe.{Codec, Decoder, Encoder}
import java.util.Base64
import scala.util.Try

// The contract's messages. In JSON 64-bit integers are decimal strings, and bytes are base64.

final case class TextRequest(text: String) derives Codec.AsObject

final case class TextReply(echo: String) derives Codec.AsObject

final case class RecordRequest(record: FlatRecord) derives Codec.AsObject

final case class RecordReply(echo: FlatRecord) derives Codec.AsObject

final case class DtoRequest(dto: PropertyDto) derives Codec.AsObject

final case class DtoReply(echo: PropertyDto) derives Codec.AsObject

final case class TreeRequest(tree: TreeNode) derives Codec.AsObject

final case class TreeReply(echo: TreeNode) derives Codec.AsObject

final case class FlatRecord(
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
) derives Codec.AsObject

final case class PropertyDto(
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
) derives Codec.AsObject

enum Status:
  case STATUS_UNSPECIFIED, STATUS_ACTIVE, STATUS_SUSPENDED, STATUS_CLOSED

object Status:
  given Codec[Status] = text(valueOf, _.toString)

final case class Tag(key: String, value: String) derives Codec.AsObject

final case class Branch(name: String, id: Uint64, tags: List[Tag]) derives Codec.AsObject

final case class TreeNode(
    name: String,
    digest: Bytes,
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
)

object TreeNode:
  private val derived = Codec.AsObject.derived[TreeNode]

  given Encoder[TreeNode] = derived
  given Decoder[TreeNode] =
    derived.ensure(tree => tree.email.isEmpty || tree.phone.isEmpty, "email and phone exclude each other")

final case class Int64(value: Long)

object Int64:
  given Codec[Int64] = text(digits => Int64(digits.toLong), _.value.toString)

final case class Uint64(bits: Long)

object Uint64:
  given Codec[Uint64] =
    text(digits => Uint64(java.lang.Long.parseUnsignedLong(digits)), it => java.lang.Long.toUnsignedString(it.bits))

final case class Bytes(value: IArray[Byte])

object Bytes:
  given Codec[Bytes] = text(
    base64 => Bytes(IArray.unsafeFromArray(Base64.getDecoder.decode(base64))),
    bytes => Base64.getEncoder.encodeToString(bytes.value.toArray)
  )

/** Values that JSON has as strings; `read` throws where there is no such value. */
private def text[A](read: String => A, write: A => String): Codec[A] =
  Codec.from(Decoder.decodeString.emapTry(string => Try(read(string))), Encoder.encodeString.contramap(write))
