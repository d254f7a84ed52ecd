#include "frazil/catalog/sqlite_database.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/base/percent_encoding.h"

namespace frazil::catalog {
namespace {

// Names have at most 255 characters and locations 1000 by the catalog's own schema; a value beyond this is forged.
constexpr int kMaxValueBytes = 16 << 20;
constexpr int kStepsPerCheck = 1000;
constexpr int kMaxTimeoutSeconds = 86400;

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_prefix) {
  if (text.size() < lower_prefix.size()) return false;
  for (size_t i = 0; i < lower_prefix.size(); ++i) {
    char c = text[i];
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c != lower_prefix[i]) return false;
  }
  return true;
}

std::string without_options(std::string_view path) {
  return std::string(path.substr(0, path.find('?')));
}

// "file:rel", "file:/abs", "file:///abs", "file://localhost/abs".
std::string path_of_file_uri(std::string_view uri, std::string_view whole) {
  std::string_view rest = uri.substr(std::string_view("file:").size());
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    if (rest.starts_with("localhost/")) rest.remove_prefix(std::string_view("localhost").size());
    if (!rest.starts_with("/")) {
      throw_error(ErrorKind::kInvalidArgument, "catalog uri '{}' names a host; three slashes begin a path", whole);
    }
  }
  auto decoded = decode_percent(without_options(rest), PercentStyle::kPath);
  if (!decoded) throw_error(ErrorKind::kInvalidArgument, "catalog uri '{}' has a broken percent sign", whole);
  return *decoded;
}

}  // namespace

std::optional<std::string> sqlite_path_of_uri(std::string_view uri) {
  std::string path;
  if (starts_with_ignoring_case(uri, "file:")) {
    path = path_of_file_uri(uri, uri);
  } else if (starts_with_ignoring_case(uri, "jdbc:sqlite:")) {
    std::string_view rest = uri.substr(std::string_view("jdbc:sqlite:").size());
    path = starts_with_ignoring_case(rest, "file:") ? path_of_file_uri(rest, uri) : without_options(rest);
  } else if (starts_with_ignoring_case(uri, "sqlite:") || starts_with_ignoring_case(uri, "sqlite+")) {
    std::string_view rest = uri.substr(uri.find(':') == std::string_view::npos ? uri.size() : uri.find(':') + 1);
    if (rest.starts_with("//")) {
      rest.remove_prefix(2);
      if (!rest.empty() && !rest.starts_with("/")) {
        Error error(ErrorKind::kInvalidArgument, message("catalog uri '{}' names a host", uri));
        throw error.set_hint("sqlite:///relative.db has three slashes, sqlite:////absolute.db four");
      }
      if (!rest.empty()) rest.remove_prefix(1);
    }
    path = starts_with_ignoring_case(rest, "file:") ? path_of_file_uri(rest, uri) : without_options(rest);
  } else {
    return std::nullopt;
  }
  if (path.empty() || path == ":memory:" || path.starts_with(":resource:")) {
    throw_error(ErrorKind::kInvalidArgument, "catalog uri '{}' names no file; a database in memory holds nothing", uri);
  }
  if (path.find('\0') != std::string::npos) {
    throw_error(ErrorKind::kInvalidArgument, "catalog uri holds a NUL character");
  }
  return path;
}

std::optional<std::chrono::milliseconds> sqlite_timeout_of_uri(std::string_view uri) {
  const size_t mark = uri.find('?');
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : uri.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view option = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), option.size() + 1));
    constexpr std::string_view kTimeout = "timeout=";
    if (!option.starts_with(kTimeout)) continue;
    const std::optional<double> seconds = parse_double(option.substr(kTimeout.size()));
    if (!seconds || !(*seconds >= 0 && *seconds <= kMaxTimeoutSeconds)) {
      throw_error(ErrorKind::kInvalidArgument, "catalog uri '{}': timeout must be seconds from 0 to {}", uri,
                  kMaxTimeoutSeconds);
    }
    return std::chrono::milliseconds(static_cast<int64_t>(*seconds * 1000));
  }
  return std::nullopt;
}

struct SqliteDatabase::Connection {
  std::string path;
  SqliteOptions options;
  sqlite3* handle = nullptr;
  uint64_t steps = 0;
  bool immutable = false;
  std::string_view durability;  // as it was set, a literal; empty: not yet

  bool is_writable() const { return options.access != SqliteAccess::kRead; }

  ~Connection() { sqlite3_close_v2(handle); }

  // `immutable`: SQLite takes no locks and needs no files beside the database.
  void open(bool as_immutable) {
    sqlite3_close_v2(std::exchange(handle, nullptr));
    immutable = as_immutable;
    int flags = SQLITE_OPEN_NOMUTEX | (is_writable() ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    if (options.access == SqliteAccess::kCreate) flags |= SQLITE_OPEN_CREATE;
    std::string name = path;
    if (as_immutable) {
      flags |= SQLITE_OPEN_URI;
      // A relative path would be taken for a host after "file://", so it stands right after "file:".
      name = "file:" + encode_percent(path, PercentStyle::kPath) + "?immutable=1";
    } else if (name.starts_with("file:")) {
      name.insert(0, "./");  // a file of that name, not a URI
    }
    int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
    if (handle == nullptr) throw std::bad_alloc();
    if (code != SQLITE_OK) fail(code);
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, static_cast<int>(options.busy_timeout.count()));
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    // What a forged schema could hide in views, defaults and triggers.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_progress_handler(
        handle, kStepsPerCheck,
        [](void* self) -> int {
          auto* connection = static_cast<Connection*>(self);
          connection->steps += kStepsPerCheck;
          return connection->steps > connection->options.max_steps ? 1 : 0;
        },
        this);
  }

  [[noreturn]] void fail(int code) const {
    std::string detail = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    auto make = [&](ErrorKind kind, std::string text, std::string hint) {
      Error error(kind, std::move(text));
      if (!hint.empty()) error.set_hint(std::move(hint));
      return error;
    };
    switch (code & 0xff) {
      case SQLITE_NOTADB:
        throw make(ErrorKind::kCorrupt, message("{} is not a SQLite database", path), "check the catalog's uri");
      case SQLITE_CORRUPT:
        throw make(ErrorKind::kCorrupt, message("SQLite database {} is damaged: {}", path, detail), {});
      case SQLITE_BUSY:
      case SQLITE_LOCKED: {
        SqliteLockedError error(
            message("SQLite database {} stayed locked for {} ms", path, options.busy_timeout.count()));
        error.set_hint("another program is writing to it; try again");
        throw error;
      }
      case SQLITE_INTERRUPT:
        throw make(ErrorKind::kCorrupt,
                   message("SQLite database {}: the query does not end within {} steps", path, options.max_steps), {});
      case SQLITE_TOOBIG:
        throw make(ErrorKind::kCorrupt,
                   message("SQLite database {} holds a value of more than {} bytes", path, kMaxValueBytes), {});
      case SQLITE_NOMEM:
        throw std::bad_alloc();
      case SQLITE_PERM:
      case SQLITE_AUTH:
        throw make(ErrorKind::kPermission, message("cannot {} SQLite database {}: {}", verb(), path, detail), {});
      case SQLITE_CONSTRAINT:
        throw make(ErrorKind::kAlreadyExists, message("SQLite database {}: {}", path, detail), {});
      case SQLITE_READONLY:
        if (is_writable()) {
          throw make(ErrorKind::kPermission, message("cannot write SQLite database {}: {}", path, detail), {});
        }
        throw make(ErrorKind::kIo,
                   message("SQLite database {} cannot be read without writing to its folder: {}", path, detail),
                   "a program that wrote to it ended early; open it once with a program that may write there");
      default:
        throw make(ErrorKind::kIo, message("cannot {} SQLite database {}: {}", verb(), path, detail), {});
    }
  }

  std::string_view verb() const { return is_writable() ? "write" : "read"; }

  // A database in write-ahead mode needs two files beside it even for reading. In a folder that cannot be written, and
  // when no log is there, nobody is writing and the file alone is the whole truth.
  bool may_open_as_immutable(int code) const {
    int primary = code & 0xff;
    if (immutable || is_writable() || (primary != SQLITE_READONLY && primary != SQLITE_CANTOPEN)) return false;
    struct stat status{};
    return stat((path + "-wal").c_str(), &status) != 0 && stat((path + "-journal").c_str(), &status) != 0;
  }
};

std::optional<std::string_view> SqliteDatabase::Row::text(int column) const {
  auto* statement = static_cast<sqlite3_stmt*>(statement_);
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) return std::nullopt;
  const unsigned char* bytes = sqlite3_column_text(statement, column);
  if (bytes == nullptr) throw std::bad_alloc();
  return std::string_view(reinterpret_cast<const char*>(bytes),
                          static_cast<size_t>(sqlite3_column_bytes(statement, column)));
}

namespace {

// That of a database which is to be made there.
void check_folder(const std::string& file) {
  const size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return;
  const int number = errno;
  throw IoError(number, message("cannot create SQLite database {}: {}", file, std::strerror(number)));
}

}  // namespace

SqliteDatabase::SqliteDatabase(std::string path, SqliteOptions options) : connection_(std::make_unique<Connection>()) {
  connection_->path = std::move(path);
  connection_->options = options;
  const std::string& file = connection_->path;
  // SQLite's own message for all of these is "unable to open database file".
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) {
    int number = errno;
    if (number == ENOENT && options.access == SqliteAccess::kCreate) {
      check_folder(file);
      connection_->open(false);
      return;
    }
    IoError error(number, message("cannot open SQLite database {}: {}", file, std::strerror(number)));
    if (number == ENOENT && !file.starts_with('/') && stat(("/" + file).c_str(), &status) == 0) {
      error.set_hint(message("the path is relative; /{} exists: write four slashes, sqlite:////{}", file, file));
    } else if (number == ENOENT) {
      error.set_hint("check the catalog's uri (--uri, or the configuration)");
    }
    throw error;
  }
  if (!S_ISREG(status.st_mode)) {
    throw_error(ErrorKind::kInvalidArgument, "cannot open SQLite database {}: not a file", file);
  }
  if (access(file.c_str(), connection_->is_writable() ? R_OK | W_OK : R_OK) != 0) {
    int number = errno;
    throw IoError(number, message("cannot open SQLite database {}: {}", file, std::strerror(number)));
  }
  connection_->open(false);
}

SqliteDatabase::~SqliteDatabase() = default;
SqliteDatabase::SqliteDatabase(SqliteDatabase&&) noexcept = default;
SqliteDatabase& SqliteDatabase::operator=(SqliteDatabase&&) noexcept = default;

const std::string& SqliteDatabase::path() const {
  return connection_->path;
}

bool SqliteDatabase::is_writable() const {
  return connection_->is_writable();
}

namespace {

struct Statement {
  sqlite3_stmt* handle = nullptr;
  ~Statement() { sqlite3_finalize(handle); }
};

}  // namespace

void SqliteDatabase::query(std::string_view sql, std::span<const std::string> parameters,
                           const std::function<bool(const Row&)>& visit) {
  connection_->steps = 0;
  bool any_row = false;
  while (true) {
    Statement statement;
    int code =
        sqlite3_prepare_v2(connection_->handle, sql.data(), static_cast<int>(sql.size()), &statement.handle, nullptr);
    for (size_t i = 0; code == SQLITE_OK && i < parameters.size(); ++i) {
      // A parameter is a user's text: too long a one is SQLITE_TOOBIG. It lives until the statement ends.
      code = sqlite3_bind_text64(statement.handle, static_cast<int>(i + 1), parameters[i].data(), parameters[i].size(),
                                 SQLITE_STATIC, SQLITE_UTF8);
    }
    if (code == SQLITE_OK) {
      while ((code = sqlite3_step(statement.handle)) == SQLITE_ROW) {
        any_row = true;
        if (!visit(Row(statement.handle))) return;
      }
    }
    if (code == SQLITE_DONE) return;
    if (any_row || !connection_->may_open_as_immutable(code)) connection_->fail(code);
    sqlite3_finalize(std::exchange(statement.handle, nullptr));
    connection_->open(true);
  }
}

int64_t SqliteDatabase::execute(std::string_view sql, std::span<const std::string> parameters) {
  query(sql, parameters, [](const Row&) { return true; });
  return sqlite3_changes64(connection_->handle);
}

SqliteDatabase::Transaction::Transaction(SqliteDatabase& database) : database_(&database) {
  database.execute("BEGIN IMMEDIATE");
}

SqliteDatabase::Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // An error of SQLite's may have rolled it back already.
  sqlite3_exec(database_->connection_->handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteDatabase::Transaction::commit() {
  database_->execute("COMMIT");
  database_ = nullptr;
}

void SqliteDatabase::set_extra_durable(bool extra) {
  std::string_view level = "EXTRA";
  if (!extra) {
    bool write_ahead = false;
    query("PRAGMA journal_mode", {}, [&](const Row& row) {
      write_ahead = row.text(0) == "wal";
      return false;
    });
    level = write_ahead ? "NORMAL" : "FULL";
  }
  if (level == connection_->durability) return;
  execute("PRAGMA synchronous = " + std::string(level));
  connection_->durability = level;
}

void SqliteDatabase::prefer_write_ahead() {
  try {
    execute("PRAGMA journal_mode = WAL");
  } catch (const SqliteLockedError&) {
    // Somebody else is at it.
  }
}

bool SqliteDatabase::has_column(std::string_view table, std::string_view column) {
  bool found = false;
  const std::string parameters[] = {std::string(table), std::string(column)};
  query("SELECT 1 FROM pragma_table_xinfo(?1) WHERE lower(name) = ?2", parameters, [&](const Row&) {
    found = true;
    return false;
  });
  return found;
}

bool SqliteDatabase::has_any_table() {
  bool found = false;
  query("SELECT 1 FROM sqlite_master LIMIT 1", {}, [&](const Row&) {
    found = true;
    return false;
  });
  return found;
}

}  // namespace frazil::catalog
