package dev.rpcbench.ktor

import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonFormat
import com.fasterxml.jackson.annotation.JsonInclude
import com.fasterxml.jackson.annotation.JsonProperty
import com.fasterxml.jackson.annotation.JsonValue
import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.annotation.JsonSerialize
import com.fasterxml.jackson.databind.cfg.CoercionAction
import com.fasterxml.jackson.databind.cfg.CoercionInputShape
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer
import com.fasterxml.jackson.databind.type.LogicalType

// The contract's messages. In JSON 64-bit integers are decimal strings, and bytes are base64.

data class TextRequest(val text: String)

data class TextReply(val echo: String)

data class RecordRequest(val record: FlatRecord)

data class RecordReply(val echo: FlatRecord)

data class DtoRequest(val dto: PropertyDto)

data class DtoReply(val echo: PropertyDto)

data class TreeRequest(val tree: TreeNode)

data class TreeReply(val echo: TreeNode)

data class FlatRecord(
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
    @get:JsonFormat(shape = JsonFormat.Shape.STRING) val field22: Long,
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

data class PropertyDto(
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

enum class Status {
    @JsonProperty("STATUS_UNSPECIFIED")
    UNSPECIFIED,

    @JsonProperty("STATUS_ACTIVE")
    ACTIVE,

    @JsonProperty("STATUS_SUSPENDED")
    SUSPENDED,

    @JsonProperty("STATUS_CLOSED")
    CLOSED,
}

data class Tag(val key: String, val value: String)

data class Branch(val name: String, val id: Uint64, val tags: List<Tag>)

@JsonInclude(JsonInclude.Include.NON_NULL)
class TreeNode(
    val name: String,
    val digest: ByteArray,
    val age: Int,
    @get:JsonFormat(shape = JsonFormat.Shape.STRING) val balance: Long,
    val serial: Uint64,
    val score: Double,
    val ratio: Float,
    val active: Boolean,
    val status: Status,
    val email: String? = null,
    val phone: Uint64? = null,
    val left: Branch? = null,
    val right: Branch? = null,
    @get:JsonSerialize(contentUsing = ToStringSerializer::class) val counters: Map<String, Long>,
) {
    init {
        require(email == null || phone == null) { "email and phone exclude each other" }
    }
}

/** An unsigned integer of 64 bits. */
data class Uint64(val value: ULong) {
    @JsonValue
    override fun toString(): String = value.toString()

    companion object {
        @JvmStatic
        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        fun parse(text: String) = Uint64(text.toULong())
    }
}

/** Values of a wrong type are refused; by default Jackson would make many of them fit. */
fun ObjectMapper.strict() {
    disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
    disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
    enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
    CoercionInputShape.entries.forEach { coercionConfigDefaults().setCoercion(it, CoercionAction.Fail) }
    coercionConfigFor(LogicalType.Integer).setCoercion(CoercionInputShape.String, CoercionAction.TryConvert)
    coercionConfigFor(LogicalType.Float).setCoercion(CoercionInputShape.Integer, CoercionAction.TryConvert)
}
