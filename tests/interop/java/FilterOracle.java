// Which rows does Iceberg Java find in tables? (run as source; libraries: pom.xml, fetched by java_oracle.py)
//
//   java -cp 'lib/*' FilterOracle.java       for each line {"metadata": file, "filters": [expression in Java's JSON]} on
//                                            standard input a line: for each filter [files planned, values of column
//                                            "row"] or an error's text, and last the number of files of the table
//
// Files are pruned by manifests, row groups by Parquet's statistics, dictionaries and Bloom filters, rows by the residual.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.*;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.*;
import org.apache.iceberg.types.Type;

public class FilterOracle {
  static final ObjectMapper JSON = new ObjectMapper();

  static class LocalIO implements FileIO {
    static String path(String location) { return location.replaceFirst("^file:(//)?", ""); }
    public InputFile newInputFile(String location) { return Files.localInput(path(location)); }
    public OutputFile newOutputFile(String location) { return Files.localOutput(path(location)); }
    public void deleteFile(String location) { throw new UnsupportedOperationException(location); }
  }

  static Object value(Type type, JsonNode text) {
    // Java takes whole numbers for microseconds, also those that its own parsers make of nanoseconds.
    boolean isNano = type.typeId() == Type.TypeID.TIMESTAMP_NANO;
    return isNano ? text.asText() : SingleValueParser.fromJson(type, text);
  }

  static Expression parse(JsonNode text, Schema schema) {
    String name = text.get("type").asText();
    switch (name) {
      case "and": return Expressions.and(parse(text.get("left"), schema), parse(text.get("right"), schema));
      case "or": return Expressions.or(parse(text.get("left"), schema), parse(text.get("right"), schema));
      case "not": return Expressions.not(parse(text.get("child"), schema));
    }
    var operation = Expression.Operation.valueOf(name.toUpperCase().replace('-', '_'));
    String column = text.get("term").asText();
    Type type = schema.findType(column);
    if (text.has("value")) return Expressions.predicate(operation, column, value(type, text.get("value")));
    if (!text.has("values")) return Expressions.predicate(operation, column);
    List<Object> values = new ArrayList<>();
    for (JsonNode each : text.get("values")) values.add(value(type, each));
    return Expressions.predicate(operation, column, values);
  }

  static int planned(Table table, Expression filter) throws Exception {
    int count = 0;
    try (var tasks = table.newScan().filter(filter).planFiles()) { for (var ignored : tasks) ++count; }
    return count;
  }

  static JsonNode found(Table table, Expression filter) throws Exception {
    ArrayNode answer = JSON.createArrayNode().add(planned(table, filter));
    ArrayNode rows = answer.addArray();
    try (var records = IcebergGenerics.read(table).where(filter).build()) {
      for (var record : records) rows.add((Long) record.getField("row"));
    }
    return answer;
  }

  public static void main(String[] arguments) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode request = JSON.readTree(line);
      var io = new LocalIO();
      var metadata = TableMetadataParser.read(io, request.get("metadata").asText());
      var table = new BaseTable(new StaticTableOperations(metadata, io), "t");
      ArrayNode answers = JSON.createArrayNode();
      for (JsonNode text : request.get("filters")) {
        try {
          answers.add(found(table, parse(text, table.schema())));
        } catch (Throwable error) {
          answers.add(error.toString());
        }
      }
      answers.add(planned(table, Expressions.alwaysTrue()));
      System.out.println(answers);
    }
  }
}
