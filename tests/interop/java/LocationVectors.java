// Where Iceberg Java puts data files (run as source; libraries: pom.xml): the vectors of data_paths_test.cc, a JSON line each.
//
//   java -cp 'lib/*' LocationVectors.java > src/frazil/write/testdata/java-locations.jsonl
//
//   {"location": S, "properties": {...}, "spec": {...}, "schema": {...}, "values": [single values], "file": S, "path": S}
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.iceberg.*;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

public class LocationVectors {
  static final ObjectMapper JSON = new ObjectMapper();
  static final Schema SCHEMA = new Schema(Types.NestedField.optional(1, "text", Types.StringType.get()),
      Types.NestedField.optional(2, "a b/\u00e9", Types.StringType.get()), Types.NestedField.optional(3, "ts", Types.TimestampType.withZone()),
      Types.NestedField.optional(4, "day", Types.DateType.get()), Types.NestedField.optional(5, "n", Types.DecimalType.of(9, 2)),
      Types.NestedField.optional(6, "u", Types.UUIDType.get()), Types.NestedField.optional(7, "bytes", Types.BinaryType.get()),
      Types.NestedField.optional(8, "l", Types.LongType.get()), Types.NestedField.optional(9, "d", Types.DoubleType.get()),
      Types.NestedField.optional(10, "flag", Types.BooleanType.get()), Types.NestedField.optional(11, "tod", Types.TimeType.get()),
      Types.NestedField.optional(12, "local", Types.TimestampType.withoutZone()));
  static final String[] TEXTS = {"", "x", "x/y", "a=b&c", "+ %2F~*'", "\u00e9\u65e5\u672c\ud83d\ude00", "null", "-_.!()", "line\nend", "\"\\"};
  // write.object-storage.path and write.folder-storage.path are refused by this version.
  static final String[] LOCATIONS = {"s3://bucket/db/t", "s3://bucket/db/t/", "file:///wh/db/t", "/wh/db.x/t y", "hdfs://host:80/a/b/c/"};

  static List<PartitionSpec> specs() {
    return List.of(PartitionSpec.unpartitioned(), PartitionSpec.builderFor(SCHEMA).identity("text").build(),
        PartitionSpec.builderFor(SCHEMA).identity("a b/\u00e9").bucket("text", 16, "b").build(),
        PartitionSpec.builderFor(SCHEMA).day("ts").identity("day").identity("n").build(),
        PartitionSpec.builderFor(SCHEMA).hour("ts").truncate("text", 3).identity("u").build(),
        PartitionSpec.builderFor(SCHEMA).identity("bytes").identity("l").identity("flag").build(),
        PartitionSpec.builderFor(SCHEMA).identity("ts").identity("local").build(),
        PartitionSpec.builderFor(SCHEMA).year("day").month("ts").identity("tod").build());
  }

  // Of a minute, in microseconds.
  static long fraction(Random r) {
    long[] units = {60000000, 1000000, 1000, 10, 1};
    long unit = units[r.nextInt(units.length)];
    return r.nextLong(60000000 / unit) * unit;
  }

  static Object value(Random r, Type type) {
    if (r.nextInt(6) == 0) return null;
    switch (type.typeId()) {
      case STRING: return TEXTS[r.nextInt(TEXTS.length)];
      case INTEGER: case DATE: return r.nextInt(40000) - 400;
      case LONG: return r.nextLong();
      case TIME: return (long) r.nextInt(1440) * 60000000L + fraction(r);
      case TIMESTAMP: return (long) (r.nextInt(40000000) - 10000000) * 60000000L + fraction(r);
      case DECIMAL: return BigDecimal.valueOf(r.nextInt(2000000) - 1000000, 2);
      case UUID: return new UUID(r.nextLong(), r.nextLong());
      case BINARY: byte[] bytes = new byte[r.nextInt(5)]; r.nextBytes(bytes); return ByteBuffer.wrap(bytes);
      case BOOLEAN: return r.nextBoolean();
      default: throw new IllegalArgumentException(type.toString());
    }
  }

  public static void main(String[] arguments) throws Exception {
    Random r = new Random(1);
    for (int i = 0; i < 200; ++i) {
      PartitionSpec spec = specs().get(r.nextInt(specs().size()));
      String location = LOCATIONS[r.nextInt(LOCATIONS.length)];
      Map<String, String> properties = new TreeMap<>();
      if (r.nextInt(4) != 0) properties.put("write.object-storage.enabled", "true");
      if (r.nextInt(3) == 0) properties.put("write.object-storage.partitioned-paths", "false");
      if (r.nextInt(3) == 0) properties.put("write.data.path", r.nextBoolean() ? "s3://other/x/" : location + "/elsewhere");
      String file = String.format("00000-%d-%s-%05d.parquet", r.nextInt(100), new UUID(r.nextLong(), r.nextLong()), r.nextInt(100000));
      PartitionData partition = new PartitionData(spec.partitionType());
      ObjectNode line = JSON.createObjectNode().put("location", location).put("file", file);
      var values = line.putArray("values");
      for (int k = 0; k < spec.fields().size(); ++k) {
        Type type = spec.partitionType().fields().get(k).type();
        Object value = value(r, type);
        partition.set(k, value);
        values.add(value == null ? null : JSON.readTree(SingleValueParser.toJson(type, value)));
      }
      var provider = LocationProviders.locationsFor(location, properties);
      String path = spec.isUnpartitioned() ? provider.newDataLocation(file) : provider.newDataLocation(spec, partition, file);
      line.set("properties", JSON.valueToTree(properties));
      line.set("spec", JSON.readTree(PartitionSpecParser.toJson(spec)));
      System.out.println(line.put("path", path));
    }
  }
}
