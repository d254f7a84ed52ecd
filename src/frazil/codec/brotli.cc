#include "frazil/codec/brotli.h"

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>

#include <brotli/decode.h>

#include "frazil/memory/memory_pool.h"

namespace frazil {

namespace {

// Blocks of the library, each with its size in front. Exceptions cannot pass through C, so the first is kept.
class BrotliHeap {
 public:
  explicit BrotliHeap(MemoryPool& pool) : pool_(&pool) {}

  static void* allocate(void* heap, size_t size) noexcept { return static_cast<BrotliHeap*>(heap)->do_allocate(size); }
  static void free(void* heap, void* block) noexcept { static_cast<BrotliHeap*>(heap)->do_free(block); }

  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  static constexpr size_t kHeaderBytes = alignof(std::max_align_t);

  void* do_allocate(size_t size) noexcept {
    try {
      pool_->charge(size + kHeaderBytes);
    } catch (...) {
      if (failure_ == nullptr) failure_ = std::current_exception();
      return nullptr;
    }
    void* const block = std::malloc(size + kHeaderBytes);
    if (block == nullptr) {
      pool_->discharge(size + kHeaderBytes);
      if (failure_ == nullptr) failure_ = std::make_exception_ptr(std::bad_alloc());
      return nullptr;
    }
    *static_cast<size_t*>(block) = size + kHeaderBytes;
    return static_cast<std::byte*>(block) + kHeaderBytes;
  }

  void do_free(void* block) noexcept {
    if (block == nullptr) return;
    void* const start = static_cast<std::byte*>(block) - kHeaderBytes;
    pool_->discharge(*static_cast<size_t*>(start));
    std::free(start);
  }

  MemoryPool* pool_;
  std::exception_ptr failure_;
};

struct DestroyState {
  void operator()(BrotliDecoderState* state) const noexcept { BrotliDecoderDestroyInstance(state); }
};

}  // namespace

std::optional<size_t> attempt_brotli(MemoryPool& pool, Bytes input, std::span<std::byte> output) {
  BrotliHeap heap(pool);
  const std::unique_ptr<BrotliDecoderState, DestroyState> state(
      BrotliDecoderCreateInstance(&BrotliHeap::allocate, &BrotliHeap::free, &heap));
  if (state == nullptr) heap.rethrow();
  size_t input_left = input.size();
  const uint8_t* next_input = reinterpret_cast<const uint8_t*>(input.data());
  size_t output_left = output.size();
  uint8_t* next_output = reinterpret_cast<uint8_t*>(output.data());
  size_t total = 0;
  switch (BrotliDecoderDecompressStream(state.get(), &input_left, &next_input, &output_left, &next_output, &total)) {
    case BROTLI_DECODER_RESULT_SUCCESS:
      if (input_left != 0) throw_damaged("brotli", "bytes follow its end");
      return total;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
      return std::nullopt;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
      throw_damaged("brotli", "the stream is cut");
    case BROTLI_DECODER_RESULT_ERROR:
      heap.rethrow();
      throw_damaged("brotli", BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state.get())));
  }
  throw_damaged("brotli", "unknown result");
}

}  // namespace frazil
