#include "frazil/parquet/encoder_scratch.h"

#include <memory>

namespace frazil::parquet {

EncoderScratch::EncoderScratch(MemoryPool& pool) : parts_(std::make_unique<Parts>(pool)) {}
EncoderScratch::~EncoderScratch() = default;
EncoderScratch::EncoderScratch(EncoderScratch&&) noexcept = default;
EncoderScratch& EncoderScratch::operator=(EncoderScratch&&) noexcept = default;

size_t EncoderScratch::buffered_bytes() const {
  return parts_->memory_bytes();
}

}  // namespace frazil::parquet
