// The contract's messages. In JSON 64-bit integers are decimal strings, and bytes are base64.
package dev.rpcbench.ktor

import kotlin.io.encoding.Base64
import kotlinx.serialization.KSerializer
import kotlinx.serialization.Serializable
import kotlinx.serialization.SerializationException
import kotlinx.serialization.builtins.LongAsStringSerializer
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.PrimitiveSerialDescriptor
import kotlinx.serialization.encoding.Decoder
import kotlinx.serialization.encoding.Encoder

typealias Int64 = @Serializable(LongAsStringSerializer::class) Long
typealias Uint64 = @Serializable(Uint64Serializer::class) ULong
typealias Bytes = @Serializable(Base64Serializer::class) ByteArray

object Uint64Serializer : KSerializer<ULong> {
    override val descriptor = PrimitiveSerialDescriptor("rpcbench.Uint64", PrimitiveKind.STRING)

    override fun serialize(encoder: Encoder, value: ULong) = encoder.encodeString(value.toString())

    override fun deserialize(decoder: Decoder): ULong = decoder.decodeString().toULong()
}

object Base64Serializer : KSerializer<ByteArray> {
    override val descriptor = PrimitiveSerialDescriptor("rpcbench.Bytes", PrimitiveKind.STRING)

    override fun serialize(encoder: Encoder, value: ByteArray) = encoder.encodeString(Base64.encode(value))

    override fun deserialize(decoder: Decoder): ByteArray = Base64.decode(decoder.decodeString())
}

@Serializable class TextRequest(val text: String)

@Serializable class TextReply(val echo: String)

@Serializable class RecordRequest(val record: FlatRecord)

@Serializable class RecordReply(val echo: FlatRecord)

@Serializable class DtoRequest(val dto: PropertyDto)

@Serializable class DtoReply(val echo: PropertyDto)

@Serializable class TreeRequest(val tree: TreeNode)

@Serializable class TreeReply(val echo: TreeNode)

@Serializable
class FlatRecord(
    val field1: String,
    val field2: Int,
    val field3: Int,
    val field4: String,
    val field5: List<Uint64>,
    val field6: Int,
    val field7: String,
    val field9: String,
    val field12: Boolean,
    val field13: Boolean,
    val field14: Boolean,
    val field16: Int,
    val field17: Boolean,
    val field18: String,
    val field22: Int64,
    val field23: Int,
    val field24: Boolean,
    val field25: Int,
    val field29: Int,
    val field30: Boolean,
    val field59: Boolean,
    val field60: Int,
    val field67: Int,
    val field68: Int,
    val field78: Boolean,
    val field80: Boolean,
    val field81: Boolean,
    val field100: Int,
    val field101: Int,
    val field102: String,
    val field103: String,
    val field104: Int,
    val field128: Int,
    val field129: String,
    val field130: Int,
    val field131: Int,
    val field150: Int,
    val field271: Int,
    val field272: Int,
    val field280: Int,
)

@Serializable
class PropertyDto(
    val prop1: String,
    val prop2: String,
    val prop3: String,
    val prop4: Int,
    val prop5: Int,
    val prop6: Int,
    val prop7: Double,
    val prop8: Double,
    val prop9: Double,
    val prop10: Boolean,
    val prop11: Boolean,
    val prop12: Boolean,
)

@Suppress("EnumEntryName")
enum class Status {
    STATUS_UNSPECIFIED,
    STATUS_ACTIVE,
    STATUS_SUSPENDED,
    STATUS_CLOSED,
}

@Serializable class Tag(val key: String, val value: String)

@Serializable class Branch(val name: String, val id: Uint64, val tags: List<Tag>)

@Serializable
class TreeNode(
    val name: String,
    val digest: Bytes,
    val age: Int,
    val balance: Int64,
    val serial: Uint64,
    val score: Double,
    val ratio: Float,
    val active: Boolean,
    val status: Status,
    val email: String? = null,
    val phone: Uint64? = null,
    val left: Branch? = null,
    val right: Branch? = null,
    val counters: Map<String, Int64>,
) {
    init {
        if (email != null && phone != null) {
            throw SerializationException("email and phone exclude each other")
        }
    }
}
