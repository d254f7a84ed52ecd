// The verbs of Iceberg Java's JdbcCatalog, for tests/interop/jdbc.py: one JSON object a line in, one out (run as source;
// libraries: pom.xml).
//
//   java -cp 'lib/*' JdbcVerbs.java DATABASE WAREHOUSE [KEY=VALUE...]        the catalog "lake"
//
//   {"verb": "tables", "namespace": S}   {"verb": "namespaces"}   {"verb": "rename", "table": S, "to": S}
//   {"verb": "create", "table": S}                                id bigint not null, name string; bucket[4](id)
//   {"verb": "append" | "rows" | "load" | "drop", "table": S, "ids": [I]}
//   {"verb": "append_stale", "table": S, "ids": [I]}              on the table as "load" last saw it
//
// Rows are an id and the name "java-ID". Answers: {"tables": [S]}, {"rows": [[I, S]]}, ... or {"error": class of exception}.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.*;
import org.apache.iceberg.*;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetWriter;
import org.apache.iceberg.io.*;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.types.Types;

public class JdbcVerbs {
  static final ObjectMapper JSON = new ObjectMapper();
  static final Map<String, Table> loaded = new HashMap<>();

  static class LocalIO implements FileIO {
    static String path(String location) { return location.replaceFirst("^file:(//)?", ""); }
    public InputFile newInputFile(String location) { return new LocalInput(location, Files.localInput(path(location))); }
    public OutputFile newOutputFile(String location) { return new LocalOutput(location, Files.localOutput(path(location))); }
    public void deleteFile(String location) { new File(path(location)).delete(); }
  }

  // Locations stay as the catalog has them, for it compares them when it commits.
  record LocalInput(String location, InputFile file) implements InputFile {
    public long getLength() { return file.getLength(); }
    public SeekableInputStream newStream() { return file.newStream(); }
    public boolean exists() { return file.exists(); }
  }

  record LocalOutput(String location, OutputFile file) implements OutputFile {
    public PositionOutputStream create() { return file.create(); }
    public PositionOutputStream createOrOverwrite() { return file.createOrOverwrite(); }
    public InputFile toInputFile() { return new LocalInput(location, file.toInputFile()); }
  }

  static void append(Table table, JsonNode ids) throws Exception {
    var append = table.newAppend();
    for (JsonNode id : ids) {
      GenericRecord record = GenericRecord.create(table.schema());
      record.setField("id", id.asLong());
      record.setField("name", "java-" + id.asLong());
      var partition = new PartitionKey(table.spec(), table.schema());
      partition.partition(record);
      String location = table.locationProvider().newDataLocation(table.spec(), partition, UUID.randomUUID() + ".parquet");
      var writer = Parquet.writeData(table.io().newOutputFile(location)).schema(table.schema()).withSpec(table.spec())
          .withPartition(partition).createWriterFunc(GenericParquetWriter::create).<Record>build();
      try (writer) { writer.write(record); }
      append.appendFile(writer.toDataFile());
    }
    append.commit();
  }

  static ObjectNode run(JdbcCatalog catalog, JsonNode request) throws Exception {
    ObjectNode answer = JSON.createObjectNode();
    String verb = request.get("verb").asText();
    if (verb.equals("namespaces")) {
      var names = answer.putArray("namespaces");
      for (Namespace each : catalog.listNamespaces()) names.add(each.toString());
      return answer;
    }
    if (verb.equals("tables")) {
      var names = answer.putArray("tables");
      for (TableIdentifier each : catalog.listTables(Namespace.of(request.get("namespace").asText()))) names.add(each.name());
      return answer;
    }
    String name = request.get("table").asText();
    TableIdentifier table = TableIdentifier.parse(name);
    switch (verb) {
      case "create":
        var schema = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()), Types.NestedField.optional(2, "name", Types.StringType.get()));
        catalog.createTable(table, schema, PartitionSpec.builderFor(schema).bucket("id", 4).build());
        break;
      case "load":
        loaded.put(name, catalog.loadTable(table));
        break;
      case "append":
        append(catalog.loadTable(table), request.get("ids"));
        break;
      case "append_stale":
        append(loaded.get(name), request.get("ids"));
        break;
      case "rows":
        var rows = answer.putArray("rows");
        try (var records = IcebergGenerics.read(catalog.loadTable(table)).build()) {
          for (Record record : records) rows.addArray().add((Long) record.getField("id")).add((String) record.getField("name"));
        }
        break;
      case "rename":
        catalog.renameTable(table, TableIdentifier.parse(request.get("to").asText()));
        break;
      case "drop":
        answer.put("dropped", catalog.dropTable(table, false));
        break;
      default:
        throw new IllegalArgumentException(verb);
    }
    return answer;
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> properties = new HashMap<>(Map.of("uri", "jdbc:sqlite:" + arguments[0], "warehouse", arguments[1]));
    for (String each : Arrays.asList(arguments).subList(2, arguments.length)) properties.put(each.split("=")[0], each.split("=")[1]);
    var catalog = new JdbcCatalog(ignored -> new LocalIO(), null, true);
    catalog.initialize("lake", properties);
    var in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      ObjectNode answer;
      try {
        answer = run(catalog, JSON.readTree(line));
      } catch (Throwable error) {
        answer = JSON.createObjectNode().put("error", error.getClass().getSimpleName()).put("message", String.valueOf(error.getMessage()));
      }
      System.out.println(answer);
      System.out.flush();
    }
  }
}
