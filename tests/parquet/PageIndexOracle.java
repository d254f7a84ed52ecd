// Holds page indexes and counts of Parquet files against their values, all read by parquet-java (run as source; its libraries
// are those of tests/interop/java/pom.xml).
//
//   java -cp 'lib/*' PageIndexOracle.java FILE...
//
// Prints what is wrong, a line each, and at the end {"files":N,"bad":N,"indexes":N,"pages":N,"histograms":N,"values":N}. Checked: the
// chunk's null count; of each page the null count, its level histograms if there are any, whether it is said to have nothing but nulls, that its bounds hold its values and,
// where bounds are never cut, are values; and that bounds are in the order that is claimed.
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.internal.column.columnindex.BoundaryOrder;
import org.apache.parquet.internal.column.columnindex.ColumnIndex;
import org.apache.parquet.internal.column.columnindex.OffsetIndex;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.Float16;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveComparator;

public class PageIndexOracle {
  static long bad, indexes, pages, histograms, values;

  static void report(String where, Object what) {
    ++bad;
    System.out.println(where + ": " + what);
  }

  // What pages have, found by reading them.
  static class Pages {
    final Object[] least, most;
    final long[] nulls;
    final long[][] repetition, definition;  // how often each level occurs
    Pages(int count, ColumnDescriptor type) {
      least = new Object[count];
      most = new Object[count];
      nulls = new long[count];
      repetition = new long[count][type.getMaxRepetitionLevel() + 1];
      definition = new long[count][type.getMaxDefinitionLevel() + 1];
    }
  }

  static Object value(ColumnReader column, ColumnDescriptor type) {
    switch (type.getPrimitiveType().getPrimitiveTypeName()) {
      case INT32: return column.getInteger();
      case INT64: return column.getLong();
      case BOOLEAN: return column.getBoolean();
      case FLOAT: return column.getFloat();
      case DOUBLE: return column.getDouble();
      default: return column.getBinary().copy();
    }
  }

  static Object decode(ColumnDescriptor type, ByteBuffer bytes) {
    ByteBuffer bound = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    switch (type.getPrimitiveType().getPrimitiveTypeName()) {
      case INT32: return bound.getInt(bound.position());
      case INT64: return bound.getLong(bound.position());
      case BOOLEAN: return bound.get(bound.position()) != 0;
      case FLOAT: return bound.getFloat(bound.position());
      case DOUBLE: return bound.getDouble(bound.position());
      default: return Binary.fromConstantByteBuffer(bound);
    }
  }

  // No bound counts a NaN. The comparator of parquet-java would: to it, as to Float.compare, NaN is above all else.
  static boolean isNaN(ColumnDescriptor type, Object value) {
    if (type.getPrimitiveType().getLogicalTypeAnnotation() instanceof Float16LogicalTypeAnnotation) {
      return Float16.isNaN(((Binary) value).get2BytesLittleEndian());
    }
    return value instanceof Float && ((Float) value).isNaN() || value instanceof Double && ((Double) value).isNaN();
  }

  static void checkBounds(String where, ColumnDescriptor type, PrimitiveComparator<Object> order, ColumnIndex index, Pages found) {
    ++indexes;
    List<ByteBuffer> lows = index.getMinValues(), highs = index.getMaxValues();
    Object low = null, high = null;
    for (int page = 0; page < found.nulls.length; ++page) {
      ++pages;
      String here = where + ", page " + page;
      if (index.getNullCounts() != null && index.getNullCounts().get(page) != found.nulls[page]) {
        report(here, index.getNullCounts().get(page) + " nulls, there are " + found.nulls[page]);
      }
      boolean isNull = index.getNullPages().get(page);
      if (isNull != (found.least[page] == null)) report(here, "null page " + isNull);
      if (isNull || found.least[page] == null) continue;
      Object before = low, beforeHigh = high;
      low = decode(type, lows.get(page));
      high = decode(type, highs.get(page));
      Object least = found.least[page], most = found.most[page];
      if (order.compare(low, least) > 0 || order.compare(high, most) < 0) {
        report(here, "bounds " + low + " .. " + high + " of " + least + " .. " + most);
      }
      // Byte arrays may be cut, zeros of floats have their signs.
      boolean isWhole = low instanceof Integer || low instanceof Long || low instanceof Boolean;
      if (isWhole && !(low.equals(least) && high.equals(most))) report(here, "bounds " + low + " .. " + high + " are no values");
      if (before == null) continue;
      int rises = order.compare(before, low), risesHigh = order.compare(beforeHigh, high);
      if (index.getBoundaryOrder() == BoundaryOrder.ASCENDING && (rises > 0 || risesHigh > 0)
          || index.getBoundaryOrder() == BoundaryOrder.DESCENDING && (rises < 0 || risesHigh < 0)) {
        report(here, "not " + index.getBoundaryOrder());
      }
    }
  }

  // Where the index has histograms: one page after the other.
  static void checkHistogram(String where, List<Long> index, long[][] found) {
    if (index == null || index.isEmpty()) return;
    ++histograms;
    List<Long> expected = new ArrayList<>();
    for (long[] page : found) for (long count : page) expected.add(count);
    if (!index.equals(expected)) report(where, "level histograms " + index + ", there are " + expected);
  }

  @SuppressWarnings("unchecked")
  static void checkChunk(ParquetFileReader reader, ColumnChunkMetaData chunk, ColumnDescriptor type, ColumnReader column, String where)
      throws Exception {
    PrimitiveComparator<Object> order = (PrimitiveComparator<Object>) (PrimitiveComparator<?>) type.getPrimitiveType().comparator();
    OffsetIndex offsets = reader.readOffsetIndex(chunk);
    ColumnIndex index = reader.readColumnIndex(chunk);
    Pages found = new Pages(offsets == null ? 1 : offsets.getPageCount(), type);
    long row = -1, nulls = 0;
    int page = 0;
    for (long i = 0; i < column.getTotalValueCount(); ++i, column.consume()) {
      if (column.getCurrentRepetitionLevel() == 0) ++row;
      while (page + 1 < found.nulls.length && offsets.getFirstRowIndex(page + 1) <= row) ++page;
      ++found.repetition[page][column.getCurrentRepetitionLevel()];
      ++found.definition[page][column.getCurrentDefinitionLevel()];
      if (column.getCurrentDefinitionLevel() < type.getMaxDefinitionLevel()) {
        ++nulls;
        ++found.nulls[page];
        continue;
      }
      ++values;
      Object value = value(column, type);
      if (isNaN(type, value)) continue;
      if (found.least[page] == null || order.compare(value, found.least[page]) < 0) found.least[page] = value;
      if (found.most[page] == null || order.compare(value, found.most[page]) > 0) found.most[page] = value;
    }
    if (!chunk.getStatistics().isEmpty() && chunk.getStatistics().getNumNulls() != nulls) {
      report(where, chunk.getStatistics().getNumNulls() + " nulls, there are " + nulls);
    }
    if (index == null) return;
    checkBounds(where, type, order, index, found);
    checkHistogram(where, index.getRepetitionLevelHistogram(), found.repetition);
    checkHistogram(where, index.getDefinitionLevelHistogram(), found.definition);
  }

  public static void main(String[] paths) {
    for (String path : paths) {
      try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(Path.of(path)))) {
        MessageType schema = reader.getFileMetaData().getSchema();
        int group = 0;
        for (PageReadStore store; (store = reader.readNextRowGroup()) != null; ++group) {
          ColumnReadStoreImpl columns = new ColumnReadStoreImpl(
              store, new GroupRecordConverter(schema).getRootConverter(), schema, reader.getFileMetaData().getCreatedBy());
          for (ColumnChunkMetaData chunk : reader.getRowGroups().get(group).getColumns()) {
            ColumnDescriptor type = schema.getColumnDescription(chunk.getPath().toArray());
            String where = path + ", row group " + group + ", " + chunk.getPath();
            checkChunk(reader, chunk, type, columns.getColumnReader(type), where);
          }
        }
      } catch (Exception | Error error) {
        report(path, error);
      }
    }
    System.out.printf("{\"files\":%d,\"bad\":%d,\"indexes\":%d,\"pages\":%d,\"histograms\":%d,\"values\":%d}%n", paths.length, bad,
        indexes, pages, histograms, values);
  }
}
