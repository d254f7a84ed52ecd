// A SQLite database that somebody else made, opened for reading: nothing in it is trusted, nothing is created. The
// SQLite library is seen in the .cc alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace frazil::catalog {

// The file that a catalog's uri names, or nothing if the uri is not one of SQLite.
//
//   sqlite:///rel.db  sqlite:////abs.db  sqlite+pysqlite:///rel.db   as SQLAlchemy (PyIceberg); nothing is decoded
//   jdbc:sqlite:rel.db  jdbc:sqlite:/abs.db  jdbc:sqlite:file:abs.db as Iceberg Java's JdbcCatalog
//   file:rel.db  file:///abs.db                                      percent-decoded
//
// Options after '?' are dropped. Throws Error(kInvalidArgument) for a host, for ":memory:" and for no path at all.
std::optional<std::string> sqlite_path_of_uri(std::string_view uri);

struct SqliteReadOptions {
  std::chrono::milliseconds busy_timeout{5000};  // how long to wait for a writer
  // The most steps of SQLite's virtual machine in one query. A damaged or forged database can ask for endless work;
  // real ones need some 30 steps a row.
  uint64_t max_steps = 2'000'000'000;
};

// Not thread-safe: callers lock. Errors name the file: kNotFound if it is not there, kCorrupt if it is no database or
// damaged, kPermission, kIo (locked longer than the timeout among others), kCorrupt for endless work too.
class SqliteDatabase {
 public:
  // Views of the current row, valid until the callback returns. NULL is nothing; other types are read as text.
  class Row {
   public:
    explicit Row(void* statement) : statement_(statement) {}
    std::optional<std::string_view> text(int column) const;

   private:
    void* statement_;
  };

  explicit SqliteDatabase(std::string path, SqliteReadOptions options = {});
  ~SqliteDatabase();
  SqliteDatabase(SqliteDatabase&&) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) noexcept;

  const std::string& path() const;

  // Runs `sql` with its parameters ?1, ?2, ... bound to `parameters`; `visit` gets each row and returns whether to go
  // on.
  void query(std::string_view sql, std::span<const std::string> parameters,
             const std::function<bool(const Row&)>& visit);

  // Whether the table or view has that column; false too if there is no such table.
  bool has_column(std::string_view table, std::string_view column);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace frazil::catalog
