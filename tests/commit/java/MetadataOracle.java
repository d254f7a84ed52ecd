// What Iceberg Java makes of metadata files (run as source; libraries: tests/interop/java/pom.xml).
//
//   java -cp 'lib/*' MetadataOracle.java       for each file named on standard input two lines: its name, then its content
//                                              as Java writes it, or "error: ..."
import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.iceberg.*;
import org.apache.iceberg.io.*;

public class MetadataOracle {
  static class LocalIO implements FileIO {
    public InputFile newInputFile(String location) { return Files.localInput(location); }
    public OutputFile newOutputFile(String location) { return Files.localOutput(location); }
    public void deleteFile(String location) { throw new UnsupportedOperationException(location); }
  }

  public static void main(String[] arguments) throws Exception {
    var input = new BufferedReader(new InputStreamReader(System.in));
    for (String path = input.readLine(); path != null; path = input.readLine()) {
      String answer;
      try {
        answer = TableMetadataParser.toJson(TableMetadataParser.read(new LocalIO(), path));
      } catch (Exception error) {
        answer = "error: " + String.valueOf(error).replace('\n', ' ');
      }
      System.out.println(path + "\n" + answer);
    }
  }
}
