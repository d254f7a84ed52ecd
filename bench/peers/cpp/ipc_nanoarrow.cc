// How fast does nanoarrow, the C library, read and write Arrow IPC? Words and figures: ipc_runner.h.
//
// From memory and mappings: its decoder over the bytes, arrays that share them. From pipes and files: its stream reader. It
// reads streams only, and writes without codecs and dictionaries. Linked with --wrap, so that allocations are counted.
#include <memory>
#include <optional>

#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow.hpp>
#include <nanoarrow/nanoarrow_ipc.h>
#include <nanoarrow/nanoarrow_ipc.hpp>

#include "ipc_runner.h"

extern "C" {
void* __real_malloc(size_t size);
void* __real_realloc(void* memory, size_t size);
void* __real_calloc(size_t count, size_t size);
void* __wrap_malloc(size_t size) {
  ipc_bench::new_calls.fetch_add(1, std::memory_order_relaxed);
  return __real_malloc(size);
}
void* __wrap_realloc(void* memory, size_t size) {
  ipc_bench::new_calls.fetch_add(1, std::memory_order_relaxed);
  return __real_realloc(memory, size);
}
void* __wrap_calloc(size_t count, size_t size) {
  ipc_bench::new_calls.fetch_add(1, std::memory_order_relaxed);
  return __real_calloc(count, size);
}
}

namespace {

using ipc_bench::Request;
using ipc_bench::Totals;

void check(int code, const ArrowError& error) {
  if (code == ENOTSUP) throw ipc_bench::NotOffered(error.message);
  if (code != NANOARROW_OK) throw std::runtime_error(std::string(error.message) + " (" + std::to_string(code) + ")");
}

struct Mapping {
  explicit Mapping(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || ::fstat(file, &status) != 0) throw std::runtime_error("cannot open " + path);
    size = static_cast<size_t>(status.st_size);
    data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (data == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  }
  ~Mapping() { ::munmap(data, size); }
  void* data;
  size_t size;
};

// Values of a view: the layout of its type says where buffers are.
void take(const ArrowArrayView& view, bool touch, Totals& totals) {
  for (int i = 0; i < NANOARROW_MAX_FIXED_BUFFERS; ++i) {
    if (view.layout.buffer_type[i] == NANOARROW_BUFFER_TYPE_NONE) break;
    ipc_bench::take(view.buffer_views[i].data.data, view.buffer_views[i].size_bytes, touch, totals);
  }
  for (int i = 0; i < view.n_variadic_buffers; ++i)
    ipc_bench::take(view.variadic_buffers[i], view.variadic_buffer_sizes[i], touch, totals);
  for (int64_t i = 0; i < view.n_children; ++i) take(*view.children[i], touch, totals);
  if (view.dictionary != nullptr) take(*view.dictionary, touch, totals);
}

// The messages of a stream in memory. Arrays share its bytes, which outlive them.
class MemoryReader {
 public:
  MemoryReader(const uint8_t* data, size_t size, const Request& request) : data_(data), size_(size), request_(request) {
    ArrowErrorInit(&error_);
    check(ArrowIpcDecoderInit(decoder_.get()), error_);
  }
  ~MemoryReader() {
    if (has_dictionaries_) ArrowIpcDictionariesReset(&dictionaries_);
  }

  ArrowSchema* schema() { return schema_.get(); }

  // False at the end.
  bool next(ArrowArray* array) {
    while (at_ < size_) {
      const ArrowBufferView rest{{data_ + at_}, static_cast<int64_t>(size_ - at_)};
      const int verified = ArrowIpcDecoderVerifyHeader(decoder_.get(), rest, &error_);
      if (verified == ENODATA) return false;
      check(verified, error_);
      check(ArrowIpcDecoderDecodeHeader(decoder_.get(), rest, &error_), error_);
      const uint8_t* body = data_ + at_ + decoder_->header_size_bytes;
      at_ += static_cast<size_t>(decoder_->header_size_bytes + decoder_->body_size_bytes);
      if (at_ > size_) throw std::runtime_error("a body past the end");
      switch (decoder_->message_type) {
        case NANOARROW_IPC_MESSAGE_TYPE_SCHEMA:
          set_schema();
          break;
        case NANOARROW_IPC_MESSAGE_TYPE_DICTIONARY_BATCH: {
          nanoarrow::UniqueBuffer shared = share(body);
          check(
              ArrowIpcDecoderDecodeDictionaryFromShared(decoder_.get(), shared.get(), level(), &dictionaries_, &error_),
              error_);
          break;
        }
        case NANOARROW_IPC_MESSAGE_TYPE_RECORD_BATCH: {
          nanoarrow::UniqueBuffer shared = share(body);
          check(ArrowIpcDecoderDecodeArrayFromSharedWithDictionaries(decoder_.get(), shared.get(), request_.column,
                                                                     &dictionaries_, array, level(), &error_),
                error_);
          return true;
        }
        default:
          throw std::runtime_error("another kind of message");
      }
    }
    return false;
  }

 private:
  ArrowValidationLevel level() const {
    return request_.validate_full ? NANOARROW_VALIDATION_LEVEL_FULL : NANOARROW_VALIDATION_LEVEL_MINIMAL;
  }

  void set_schema() {
    nanoarrow::UniqueSchema schema;
    ArrowIpcDictionaryEncodings encodings;
    ArrowIpcDictionaryEncodingsInit(&encodings);
    check(ArrowIpcDecoderDecodeSchemaWithDictionaries(decoder_.get(), schema.get(), &encodings, &error_), error_);
    check(ArrowIpcDictionariesInit(&dictionaries_, &encodings, &error_), error_);
    has_dictionaries_ = true;
    check(ArrowIpcDecoderSetSchemaWithDictionaries(decoder_.get(), schema.get(), &encodings, &error_), error_);
    ArrowIpcDictionaryEncodingsReset(&encodings);
    ArrowSchemaMove(schema.get(), schema_.get());
  }

  nanoarrow::UniqueBuffer share(const uint8_t* body) {
    ArrowBuffer buffer;
    ArrowBufferInit(&buffer);
    buffer.data = const_cast<uint8_t*>(body);
    buffer.size_bytes = decoder_->body_size_bytes;
    buffer.allocator = ArrowBufferDeallocator([](ArrowBufferAllocator*, uint8_t*, int64_t) {}, nullptr);
    nanoarrow::UniqueBuffer shared;
    check(ArrowSharedBufferInit(shared.get(), &buffer), error_);
    return shared;
  }

  const uint8_t* data_;
  size_t size_;
  const Request& request_;
  size_t at_ = 0;
  nanoarrow::ipc::UniqueDecoder decoder_;
  nanoarrow::UniqueSchema schema_;
  ArrowIpcDictionaries dictionaries_{};
  bool has_dictionaries_ = false;
  ArrowError error_;
};

class Reader {
 public:
  explicit Reader(const Request& request) : request_(request) {
    if (request.format == "file")
      throw ipc_bench::NotOffered("nanoarrow reads streams; its reader of footers is for its own tests");
    for (const std::string& path : ipc_bench::files_of(request.path)) {
      const bool in_memory = request.input == "memory" || request.input == "pipe";
      sources_.push_back({path, in_memory ? ipc_bench::contents(path) : std::string()});
    }
  }

  // take(schema, array). Who keeps arrays gives `kept`, where mappings live on.
  template <typename Take>
  void read(Take&& take_array, std::vector<std::unique_ptr<Mapping>>* kept = nullptr) const {
    for (const Source& source : sources_) {
      if (request_.input == "memory") {
        read_bytes(reinterpret_cast<const uint8_t*>(source.bytes.data()), source.bytes.size(), take_array);
      } else if (request_.input == "mmap") {
        auto mapping = std::make_unique<Mapping>(source.path);
        read_bytes(static_cast<const uint8_t*>(mapping->data), mapping->size, take_array);
        if (kept != nullptr) kept->push_back(std::move(mapping));
      } else {
        std::optional<ipc_bench::PipeProducer> producer;
        if (request_.input == "pipe") producer.emplace(source.bytes);
        read_stream(producer ? ::fdopen(producer->read_end(), "rb") : std::fopen(source.path.c_str(), "rb"),
                    take_array);
      }
    }
  }

  Totals all() const {
    Totals totals;
    totals.files = static_cast<int64_t>(sources_.size());
    nanoarrow::UniqueArrayView view;
    read([&](const ArrowSchema* schema, ArrowArray* array) {
      ++totals.batches;
      totals.rows += array->length;
      if (!request_.touch) {
        take_buffers(*array, totals);
        return;
      }
      ArrowError error;
      if (view->storage_type == NANOARROW_TYPE_UNINITIALIZED)
        check(ArrowArrayViewInitFromSchema(view.get(), schema, &error), error);
      check(ArrowArrayViewSetArray(view.get(), array, &error), error);
      take(*view.get(), true, totals);
    });
    return totals;
  }

 private:
  struct Source {
    std::string path, bytes;
  };

  static void take_buffers(const ArrowArray& array, Totals& totals) {
    for (int64_t i = 0; i < array.n_buffers; ++i) ipc_bench::take(array.buffers[i], 0, false, totals);
    for (int64_t i = 0; i < array.n_children; ++i) take_buffers(*array.children[i], totals);
  }

  template <typename Take>
  void read_bytes(const uint8_t* data, size_t size, Take&& take_array) const {
    MemoryReader reader(data, size, request_);
    while (true) {
      nanoarrow::UniqueArray array;
      if (!reader.next(array.get())) return;
      take_array(reader.schema(), array.get());
      if (request_.first_batch) return;
    }
  }

  template <typename Take>
  void read_stream(std::FILE* file, Take&& take_array) const {
    ArrowError error;
    ArrowErrorInit(&error);
    // Its reads are large; a buffer of stdio's would be one copy more.
    std::setvbuf(file, nullptr, _IONBF, 0);
    ArrowIpcInputStream input;
    check(ArrowIpcInputStreamInitFile(&input, file, 1), error);
    ArrowIpcArrayStreamReaderOptions options{request_.column, 1};
    nanoarrow::UniqueArrayStream stream;
    check(ArrowIpcArrayStreamReaderInit(stream.get(), &input, &options), error);
    nanoarrow::UniqueSchema schema;
    check(ArrowArrayStreamGetSchema(stream.get(), schema.get(), &error), error);
    while (true) {
      nanoarrow::UniqueArray array;
      check(ArrowArrayStreamGetNext(stream.get(), array.get(), &error), error);
      if (array->release == nullptr) return;
      take_array(schema.get(), array.get());
      if (request_.first_batch) return;
    }
  }

  const Request& request_;
  std::vector<Source> sources_;
};

// What was read, for the hash and for writing.
struct Batches {
  std::vector<std::unique_ptr<Mapping>> mappings;  // of the arrays
  nanoarrow::UniqueSchema schema;
  std::vector<nanoarrow::UniqueArray> arrays;
};

Batches all_batches(const Reader& reader) {
  Batches batches;
  ArrowError error;
  const auto keep = [&](const ArrowSchema* schema, ArrowArray* array) {
    if (batches.schema->release == nullptr) check(ArrowSchemaDeepCopy(schema, batches.schema.get()), error);
    batches.arrays.emplace_back(array);
  };
  reader.read(keep, &batches.mappings);
  return batches;
}

Totals write(const Request& request, const Batches& batches) {
  ArrowError error;
  ArrowErrorInit(&error);
  nanoarrow::UniqueBuffer bytes;
  nanoarrow::ipc::UniqueOutputStream output;
  if (request.to == "memory")
    check(ArrowIpcOutputStreamInitBuffer(output.get(), bytes.get()), error);
  else
    check(ArrowIpcOutputStreamInitFile(output.get(), std::fopen(request.to.c_str(), "wb"), 1), error);
  nanoarrow::ipc::UniqueWriter writer;
  check(ArrowIpcWriterInit(writer.get(), output.get()), error);
  if (request.format == "file") check(ArrowIpcWriterStartFile(writer.get(), &error), error);
  check(ArrowIpcWriterWriteSchema(writer.get(), batches.schema.get(), &error), error);
  nanoarrow::UniqueArrayView view;
  check(ArrowArrayViewInitFromSchema(view.get(), batches.schema.get(), &error), error);
  Totals totals;
  for (const auto& array : batches.arrays) {
    check(ArrowArrayViewSetArray(view.get(), array.get(), &error), error);
    check(ArrowIpcWriterWriteArrayView(writer.get(), view.get(), &error), error);
    totals.rows += array->length;
    ++totals.batches;
  }
  if (request.format == "file")
    check(ArrowIpcWriterFinalizeFile(writer.get(), &error), error);
  else
    check(ArrowIpcWriterWriteArrayView(writer.get(), nullptr, &error), error);
  totals.files = 1;
  writer.reset();
  output.reset();
  totals.bytes_written = ipc_bench::written(request, bytes->size_bytes);
  return totals;
}

void run(const Request& request) {
  if (request.operation == "write" && !request.codec.empty())
    throw ipc_bench::NotOffered("nanoarrow writes no compressed bodies");
  Request reading = request;
  if (request.operation == "write") reading.format = "stream";
  const Reader reader(reading);
  const auto allocations = [] { return ipc_bench::new_calls.load(); };
  if (request.operation == "write") {
    const Batches batches = all_batches(reader);
    ipc_bench::measure(request, [&] { return write(request, batches); }, allocations);
  } else if (request.hash) {
    Batches batches = all_batches(reader);
    nanoarrow::VectorArrayStream stream(batches.schema.get(), std::move(batches.arrays));
    nanoarrow::UniqueArrayStream exported;
    stream.ToArrayStream(exported.get());
    ipc_bench::print_content_hash(request, exported.get());
  } else {
    ipc_bench::measure(request, [&] { return reader.all(); }, allocations);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return ipc_bench::main_of(argc, argv, run);
}
