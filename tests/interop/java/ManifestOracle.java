// What Iceberg Java says of manifests (run as source; libraries: pom.xml, fetched by tests/interop/java.py).
//
//   java -cp 'lib/*' ManifestOracle.java schemas          the Avro schemas that it writes, a JSON line each
//   java -cp 'lib/*' ManifestOracle.java read             for each metadata file named on standard input a JSON line: its
//                                                         rows, and the live files of each manifest of each snapshot
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.iceberg.*;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.io.*;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;

public class ManifestOracle {
  static class LocalIO implements FileIO {
    static String path(String location) { return location.replaceFirst("^file:(//)?", ""); }
    public InputFile newInputFile(String location) { return Files.localInput(path(location)); }
    public OutputFile newOutputFile(String location) { return Files.localOutput(path(location)); }
    public void deleteFile(String location) { throw new UnsupportedOperationException(location); }
  }

  static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  static String json(Object value) {
    if (value == null) return "null";
    if (value instanceof ByteBuffer) {
      ByteBuffer bytes = ((ByteBuffer) value).duplicate();
      StringBuilder hex = new StringBuilder();
      while (bytes.hasRemaining()) hex.append(String.format("%02x", bytes.get()));
      return quote(hex.toString());
    }
    if (value instanceof Map) {
      StringBuilder out = new StringBuilder();
      for (Object key : new TreeSet<Object>(((Map<?, ?>) value).keySet()))
        out.append(out.length() == 0 ? "" : ",").append("[").append(json(key)).append(",").append(json(((Map<?, ?>) value).get(key))).append("]");
      return "[" + out + "]";
    }
    if (value instanceof Collection) {
      StringBuilder out = new StringBuilder();
      for (Object item : (Collection<?>) value) out.append(out.length() == 0 ? "" : ",").append(json(item));
      return "[" + out + "]";
    }
    return value instanceof Number || value instanceof Boolean ? value.toString() : quote(value.toString());
  }

  static List<Object> file(ContentFile<?> file, PartitionSpec spec) {
    List<Object> partition = new ArrayList<>();
    for (int i = 0; i < spec.fields().size(); ++i) {
      Object value = file.partition().get(i, Object.class);
      // A field whose column is gone has no type to say it in.
      var type = spec.partitionType().fields().get(i).type();
      partition.add(value == null ? null : type.typeId() == org.apache.iceberg.types.Type.TypeID.UNKNOWN ? "?" : Conversions.toByteBuffer(type, value));
    }
    String referenced = file instanceof DeleteFile ? ((DeleteFile) file).referencedDataFile() : null;
    Object offset = file instanceof DeleteFile ? ((DeleteFile) file).contentOffset() : null;
    Object size = file instanceof DeleteFile ? ((DeleteFile) file).contentSizeInBytes() : null;
    return Arrays.asList(file.content().id(), file.location(), file.format().name(), partition, file.recordCount(), file.fileSizeInBytes(),
        file.columnSizes(), file.valueCounts(), file.nullValueCounts(), file.nanValueCounts(), file.lowerBounds(), file.upperBounds(),
        file.keyMetadata(), file.splitOffsets(), file.equalityFieldIds(), file.sortOrderId(), file.dataSequenceNumber(),
        file.fileSequenceNumber(), file.firstRowId(), referenced, offset, size);
  }

  static List<Object> manifest(ManifestFile manifest, FileIO io, Map<Integer, PartitionSpec> specs) throws Exception {
    List<Object> summaries = null;
    if (manifest.partitions() != null) {
      summaries = new ArrayList<>();
      for (var field : manifest.partitions())
        summaries.add(Arrays.asList(field.containsNull(), field.containsNaN(), field.lowerBound(), field.upperBound()));
    }
    List<Object> files = new ArrayList<>();
    var spec = specs.get(manifest.partitionSpecId());
    if (manifest.content() == ManifestContent.DATA) {
      try (var reader = ManifestFiles.read(manifest, io, specs)) { for (DataFile file : reader) files.add(file(file, spec)); }
    } else {
      try (var reader = ManifestFiles.readDeleteManifest(manifest, io, specs)) { for (DeleteFile file : reader) files.add(file(file, spec)); }
    }
    return Arrays.asList(manifest.path(), manifest.length(), manifest.partitionSpecId(), manifest.content().id(), manifest.sequenceNumber(),
        manifest.minSequenceNumber(), manifest.snapshotId(), manifest.addedFilesCount(), manifest.existingFilesCount(), manifest.deletedFilesCount(),
        manifest.addedRowsCount(), manifest.existingRowsCount(), manifest.deletedRowsCount(), summaries, manifest.keyMetadata(),
        manifest.firstRowId(), files);
  }

  static String read(String path) throws Exception {
    var io = new LocalIO();
    var metadata = TableMetadataParser.read(io, path);
    var table = new BaseTable(new StaticTableOperations(metadata, io), "t");
    List<Object> manifests = new ArrayList<>();
    for (Snapshot snapshot : table.snapshots()) {
      List<Object> listed = new ArrayList<>();
      for (ManifestFile manifest : snapshot.allManifests(io)) listed.add(manifest(manifest, io, table.specs()));
      manifests.add(Arrays.asList(snapshot.snapshotId(), listed));
    }
    String rows;
    long count = 0;
    try (var records = IcebergGenerics.read(table).build()) {
      for (var ignored : records) ++count;
      rows = Long.toString(count);
    } catch (Throwable error) {
      rows = quote(error.toString());
    }
    return "\"rows\":" + rows + ",\"snapshots\":" + json(manifests);
  }

  static void printSchema(int version, String kind, FileIO io, String location) throws Exception {
    try (var in = new DataFileStream<Object>(io.newInputFile(location).newStream(), new GenericDatumReader<Object>())) {
      System.out.println("{\"version\":" + version + ",\"kind\":\"" + kind + "\",\"schema\":" + in.getMetaString("avro.schema") + "}");
    }
  }

  static void schemas() throws Exception {
    var catalog = new InMemoryCatalog();
    catalog.initialize("c", Map.of());
    catalog.createNamespace(Namespace.of("n"));
    var schema = new Schema(Types.NestedField.optional(1, "a", Types.DecimalType.of(9, 2)), Types.NestedField.optional(2, "a b", Types.UUIDType.get()),
        Types.NestedField.optional(3, "c", Types.TimestampType.withoutZone()), Types.NestedField.optional(4, "d", Types.TimestampType.withZone()),
        Types.NestedField.optional(5, "e", Types.FixedType.ofLength(5)), Types.NestedField.optional(6, "f", Types.TimeType.get()),
        Types.NestedField.optional(7, "g", Types.StringType.get()), Types.NestedField.optional(8, "h", Types.DecimalType.of(38, 0)),
        Types.NestedField.optional(9, "i", Types.DateType.get()), Types.NestedField.optional(10, "9j", Types.BinaryType.get()));
    for (int version = 1; version <= 3; ++version) {
      var builder = PartitionSpec.builderFor(schema).day("c", "c_day").hour("d", "d_hour").bucket("g", 4, "g_bucket");
      for (var column : schema.columns()) builder = builder.identity(column.name());
      var table = catalog.createTable(TableIdentifier.of("n", "t" + version), schema, builder.build(), Map.of("format-version", Integer.toString(version)));
      table.newAppend().appendFile(DataFiles.builder(table.spec()).withPath("memory:/f.parquet").withFileSizeInBytes(100).withRecordCount(1).build()).commit();
      printSchema(version, "manifest_list", table.io(), table.currentSnapshot().manifestListLocation());
      printSchema(version, "manifest", table.io(), table.currentSnapshot().allManifests(table.io()).get(0).path());
    }
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("schemas")) {
      schemas();
      return;
    }
    var in = new BufferedReader(new InputStreamReader(System.in));
    for (String path = in.readLine(); path != null; path = in.readLine()) {
      String result;
      try {
        result = read(path);
      } catch (Throwable error) {
        result = "\"error\":" + quote(error.toString());
      }
      System.out.println("{\"metadata\":" + quote(path) + "," + result + "}");
    }
  }
}
