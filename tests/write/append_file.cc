// Appends the rows of a Parquet file to a table of a SQLite catalog and prints the content hash of the table:
// frazil_append_file DATABASE TABLE FILE BATCH_ROWS BUFFER_BYTES       without a file ("-"): the hash alone
#include <cstdio>
#include <cstdlib>
#include <string>

#include "frazil/columnar/content_hash.h"
#include "frazil/frazil.h"
#include "frazil/parquet/file_reader.h"

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s DATABASE TABLE FILE BATCH_ROWS BUFFER_BYTES\n", argv[0]);
    return 2;
  }
  try {
    using namespace frazil;
    Context context({.memory_budget_bytes = size_t{1} << 30, .threads = 2});
    const auto catalog = open_catalog(context, {.uri = std::string("sqlite:///") + argv[1]});
    Table table = catalog.load_table(argv[2]);
    const std::string file = argv[3];
    if (file != "-") {
      Append append = table.append({.buffer_bytes = static_cast<size_t>(std::atoll(argv[5]))});
      parquet::FileReader reader(table.files().open_input(file), {.batch_rows = std::atoll(argv[4])},
                                 context.memory_pool());
      while (auto batch = reader.next()) append.write(*batch);
      table = append.commit();
    }
    ContentHash hash;
    for (auto stream = table.scan().execute(); auto batch = stream->next();) hash.add(*batch);
    std::printf("%s %lld\n", hash.to_string().c_str(), static_cast<long long>(hash.rows()));
    return 0;
  } catch (const frazil::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
