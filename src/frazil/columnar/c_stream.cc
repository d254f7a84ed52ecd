// Streams of batches over the C stream interface.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "frazil/base/error.h"
#include "frazil/base/mutex.h"
#include "frazil/columnar/c_data.h"

namespace frazil {

namespace {

// ---- Export ----

int errno_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kCorrupt:
      return EINVAL;
    case ErrorKind::kUnsupported:
      return ENOSYS;
    case ErrorKind::kMemoryLimit:
      return ENOMEM;
    case ErrorKind::kCancelled:
      return ECANCELED;
    default:
      return EIO;
  }
}

struct ExportedStream {
  std::unique_ptr<BatchStream> stream;
  std::string last_error;
};

// For get_last_error. Without memory for the text the code alone must do.
void keep_text(std::string& last_error, const char* text) noexcept {
  try {
    last_error = text;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
}

// Runs `body`; an exception becomes an errno and the text of get_last_error.
template <typename Body>
int guarded(ArrowArrayStream* stream, Body body) noexcept {
  auto& exported = *static_cast<ExportedStream*>(stream->private_data);
  exported.last_error.clear();
  try {
    body(*exported.stream);
    return 0;
  } catch (const Error& error) {
    keep_text(exported.last_error, error.what());
    return errno_of(error.kind());
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    keep_text(exported.last_error, error.what());
    return EIO;
  } catch (...) {
    return EIO;
  }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  out->release = nullptr;
  return guarded(stream, [out](BatchStream& source) { export_schema(*source.schema(), out); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  out->release = nullptr;  // the end of the stream
  return guarded(stream, [out](BatchStream& source) {
    if (auto batch = source.next()) export_record_batch(*batch, out);
  });
}

const char* get_last_error(ArrowArrayStream* stream) {
  const std::string& text = static_cast<ExportedStream*>(stream->private_data)->last_error;
  return text.empty() ? nullptr : text.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<ExportedStream*>(stream->private_data);
  stream->release = nullptr;
}

// ---- Import ----

class ForeignStream final : public BatchStream {
 public:
  ForeignStream(ArrowArrayStream* source, const ImportOptions& options) : options_(options), stream_(*source) {
    source->release = nullptr;
  }
  ~ForeignStream() override {
    close();
    MutexLock lock(mutex_);
    release();
  }

  void open() {
    MutexLock lock(mutex_);
    ArrowSchema schema{};
    if (int code = stream_.get_schema(&stream_, &schema); code != 0) fail(code, "schema");
    schema_ = import_schema(&schema);
  }

  const SchemaPtr& schema() const override { return schema_; }

  std::optional<RecordBatch> next() override {
    MutexLock lock(mutex_);
    if (stream_.release == nullptr) return std::nullopt;
    if (closed_) {
      release();
      return std::nullopt;
    }
    ArrowArray array{};
    if (int code = stream_.get_next(&stream_, &array); code != 0) fail(code, "next batch");
    if (array.release == nullptr || closed_) {
      if (array.release != nullptr) array.release(&array);
      release();
      return std::nullopt;
    }
    return import_record_batch(&array, schema_, options_);
  }

  // A producer's functions must not be called by two threads at once: while next() runs, it is next() that releases.
  void close() noexcept override {
    closed_ = true;
    if (mutex_.try_lock()) {
      release();
      mutex_.unlock();
    }
  }

 private:
  void release() noexcept REQUIRES(mutex_) {
    if (stream_.release != nullptr) stream_.release(&stream_);
    stream_.release = nullptr;
  }

  // Requires a code other than 0. The stream is of no use afterwards and released.
  [[noreturn]] void fail(int code, std::string_view what) REQUIRES(mutex_) {
    const char* text = stream_.get_last_error == nullptr ? nullptr : stream_.get_last_error(&stream_);
    std::string reason = text == nullptr || *text == '\0' ? std::strerror(code) : text;
    release();
    std::string full = message("Arrow C stream gave no {}: {}", what, reason);
    switch (code) {
      case EINVAL:
        throw Error(ErrorKind::kInvalidArgument, std::move(full));
      case ENOSYS:
        throw Error(ErrorKind::kUnsupported, std::move(full));
      case ENOMEM:
        throw MemoryLimitError(0, std::move(full));
      case ECANCELED:
        throw Error(ErrorKind::kCancelled, std::move(full));
      default:
        throw IoError(code, std::move(full));
    }
  }

  const ImportOptions options_;
  std::atomic<bool> closed_{false};
  SchemaPtr schema_;  // constant after open()
  Mutex mutex_;
  ArrowArrayStream stream_ GUARDED_BY(mutex_);
};

}  // namespace

void export_stream(std::unique_ptr<BatchStream> stream, ArrowArrayStream* out) {
  out->release = nullptr;
  auto exported = std::make_unique<ExportedStream>();
  exported->stream = std::move(stream);
  *out = ArrowArrayStream{.get_schema = get_schema,
                          .get_next = get_next,
                          .get_last_error = get_last_error,
                          .release = release_stream,
                          .private_data = exported.get()};
  exported.release();
}

std::unique_ptr<BatchStream> import_stream(ArrowArrayStream* stream, const ImportOptions& options) {
  if (stream == nullptr || stream->release == nullptr) {
    throw_error(ErrorKind::kInvalidArgument, "Arrow C stream is {}", stream == nullptr ? "null" : "already released");
  }
  if (stream->get_schema == nullptr || stream->get_next == nullptr) {
    throw_error(ErrorKind::kInvalidArgument, "Arrow C stream lacks a function");
  }
  if (options.pool == nullptr) throw_error(ErrorKind::kInvalidArgument, "import of an Arrow C stream needs a pool");
  auto result = std::make_unique<ForeignStream>(stream, options);
  result->open();
  return result;
}

}  // namespace frazil
