import dev.rpcbench.json.Messages.FlatRecord;
import dev.rpcbench.json.Messages.PropertyDto;
import dev.rpcbench.json.Messages.TreeNode;

/** Copies messages with other values for some components. */
final class Copies {
  static FlatRecord with(FlatRecord record, String field1) {
    return new FlatRecord(
        field1,
        record.field2(),
        record.field3(),
        record.field4(),
        record.field5(),
        record.field6(),
        record.field7(),
        record.field9(),
        record.field12(),
        record.field13(),
        record.field14(),
        record.field16(),
        record.field17(),
        record.field18(),
        record.field22(),
        record.field23(),
        record.field24(),
        record.field25(),
        record.field29(),
        record.field30(),
        record.field59(),
        record.field60(),
        record.field67(),
        record.field68(),
        record.field78(),
        record.field80(),
        record.field81(),
        record.field100(),
        record.field101(),
        record.field102(),
        record.field103(),
        record.field104(),
        record.field128(),
        record.field129(),
        record.field130(),
        record.field131(),
        record.field150(),
        record.field271(),
        record.field272(),
        record.field280());
  }

  static PropertyDto with(PropertyDto dto, String prop1) {
    return new PropertyDto(
        prop1,
        dto.prop2(),
        dto.prop3(),
        dto.prop4(),
        dto.prop5(),
        dto.prop6(),
        dto.prop7(),
        dto.prop8(),
        dto.prop9(),
        dto.prop10(),
        dto.prop11(),
        dto.prop12());
  }

  static TreeNode with(TreeNode tree, String name, byte[] digest) {
    return new TreeNode(
        name,
        digest,
        tree.age(),
        tree.balance(),
        tree.serial(),
        tree.score(),
        tree.ratio(),
        tree.active(),
        tree.status(),
        tree.email(),
        tree.phone(),
        tree.left(),
        tree.right(),
        tree.counters());
  }

  private Copies() {}
}
