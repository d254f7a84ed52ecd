// A SQLite database that somebody else may have made: nothing in it is trusted, and reading creates nothing. The SQLite
// library is seen in the .cc alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frazil/base/error.h"

namespace frazil::catalog {

// The file that a catalog's uri names, or nothing if the uri is not one of SQLite.
//
//   sqlite:///rel.db  sqlite:////abs.db  sqlite+pysqlite:///rel.db   as SQLAlchemy (PyIceberg); nothing is decoded
//   jdbc:sqlite:rel.db  jdbc:sqlite:/abs.db  jdbc:sqlite:file:abs.db as Iceberg Java's JdbcCatalog
//   file:rel.db  file:///abs.db                                      percent-decoded
//
// Options after '?' are dropped. Throws Error(kInvalidArgument) for a host, for ":memory:" and for no path at all.
std::optional<std::string> sqlite_path_of_uri(std::string_view uri);
// SQLAlchemy's "?timeout=SECONDS": how long to wait for a lock. Nothing if the uri does not say.
std::optional<std::chrono::milliseconds> sqlite_timeout_of_uri(std::string_view uri);

// Another connection held the lock for longer than the timeout; nothing of the statement was done.
class SqliteLockedError final : public Error {
 public:
  explicit SqliteLockedError(std::string text) : Error(ErrorKind::kIo, std::move(text)) {}
};

enum class SqliteAccess : uint8_t {
  kRead,
  kWrite,   // the file must be there
  kCreate,  // made if it is not there
};

struct SqliteOptions {
  SqliteAccess access = SqliteAccess::kRead;
  std::chrono::milliseconds busy_timeout{5000};  // how long to wait for a lock
  // The most steps of SQLite's virtual machine in one query. A damaged or forged database can ask for endless work;
  // real ones need some 30 steps a row.
  uint64_t max_steps = 2'000'000'000;
};

// Not thread-safe: callers lock. Errors name the file: kNotFound if it is not there, kCorrupt if it is no database or
// damaged, kPermission, kIo (SqliteLockedError among others), kCorrupt for endless work too.
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

  explicit SqliteDatabase(std::string path, SqliteOptions options = {});
  ~SqliteDatabase();
  SqliteDatabase(SqliteDatabase&&) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) noexcept;

  const std::string& path() const;
  bool is_writable() const;

  // Runs `sql` with its parameters ?1, ?2, ... bound to `parameters`; `visit` gets each row and returns whether to go
  // on.
  void query(std::string_view sql, std::span<const std::string> parameters,
             const std::function<bool(const Row&)>& visit);

  // Runs a statement that changes rows; how many it changed. A transaction of its own, unless one is open. After an error
  // nothing was changed, but for I/O errors while the transaction ended: then only reading tells.
  int64_t execute(std::string_view sql, std::span<const std::string> parameters = {});

  // Several statements at once, all or none. The lock for writing is taken at the start, so that what is read inside
  // stays true until the end. Rolls back if it is destroyed without commit().
  class Transaction {
   public:
    explicit Transaction(SqliteDatabase& database);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    SqliteDatabase* database_;
  };

  // Whether a commit waits until a power cut cannot undo it (SQLite's "extra"). Otherwise it waits for nothing in a
  // database in write-ahead mode ("normal"), and for what SQLite does by default in others ("full"). The database stays
  // whole in any case.
  void set_extra_durable(bool extra);
  // Write-ahead mode, if the file system can do it: commits are one write then, and readers are never locked out. Kept
  // by the file, for all programs.
  void prefer_write_ahead();

  // Whether the table or view has that column; false too if there is no such table.
  bool has_column(std::string_view table, std::string_view column);
  bool has_any_table();

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace frazil::catalog
