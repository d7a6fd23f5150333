package dev.rpcbench.json;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Map;

/**
 * The contract's messages, for Jackson 2 and 3. In JSON, 64-bit integers are decimal strings, and bytes are base64.
 */
public final class Messages {
  private Messages() {}

  public record TextRequest(String text) {}

  public record TextReply(String echo) {}

  public record RecordRequest(FlatRecord record) {}

  public record RecordReply(FlatRecord echo) {}

  public record DtoRequest(PropertyDto dto) {}

  public record DtoReply(PropertyDto echo) {}

  public record TreeRequest(TreeNode tree) {}

  public record TreeReply(TreeNode echo) {}

  public record FlatRecord(
      String field1,
      int field2,
      int field3,
      String field4,
      List<Uint64> field5,
      int field6,
      String field7,
      String field9,
      boolean field12,
      boolean field13,
      boolean field14,
      int field16,
      boolean field17,
      String field18,
      @JsonFormat(shape = JsonFormat.Shape.STRING) long field22,
      int field23,
      boolean field24,
      int field25,
      int field29,
      boolean field30,
      boolean field59,
      int field60,
      int field67,
      int field68,
      boolean field78,
      boolean field80,
      boolean field81,
      int field100,
      int field101,
      String field102,
      String field103,
      int field104,
      int field128,
      String field129,
      int field130,
      int field131,
      int field150,
      int field271,
      int field272,
      int field280) {}

  public record PropertyDto(
      String prop1,
      String prop2,
      String prop3,
      int prop4,
      int prop5,
      int prop6,
      double prop7,
      double prop8,
      double prop9,
      boolean prop10,
      boolean prop11,
      boolean prop12) {}

  public enum Status {
    STATUS_UNSPECIFIED,
    STATUS_ACTIVE,
    STATUS_SUSPENDED,
    STATUS_CLOSED
  }

  public record Tag(String key, String value) {}

  public record Branch(String name, Uint64 id, List<Tag> tags) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TreeNode(
      String name,
      byte[] digest,
      int age,
      @JsonFormat(shape = JsonFormat.Shape.STRING) long balance,
      Uint64 serial,
      double score,
      float ratio,
      boolean active,
      Status status,
      String email,
      Uint64 phone,
      Branch left,
      Branch right,
      Map<String, Int64> counters) {
    public TreeNode {
      if (email != null && phone != null) {
        throw new IllegalArgumentException("email and phone exclude each other");
      }
    }
  }

  /** A signed 64-bit integer in a map, to whose values {@code JsonFormat} does not apply. */
  public record Int64(long value) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static Int64 parse(String text) {
      return new Int64(Long.parseLong(text));
    }

    @JsonValue
    @Override
    public String toString() {
      return Long.toString(value);
    }
  }

  /** An unsigned 64-bit integer. */
  public record Uint64(long bits) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static Uint64 parse(String text) {
      return new Uint64(Long.parseUnsignedLong(text));
    }

    @JsonValue
    @Override
    public String toString() {
      return Long.toUnsignedString(bits);
    }
  }
}
