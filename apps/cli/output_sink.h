// Standard output as a sink of bytes, for writers of files and streams. What is written cannot be taken back.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "output.h"

#include "frazil/io/byte_sink.h"

namespace frazil::cli {

class OutputSink final : public ByteSink {
 public:
  // Borrows the stream.
  explicit OutputSink(OutputStream& out) : out_(out) {}
  const std::string& name() const override { return name_; }
  using ByteSink::write;
  void write(std::span<const std::span<const std::byte>> pieces) override { out_.write_pieces(pieces); }
  void finish() override {}

 private:
  std::string name_ = "standard output";
  OutputStream& out_;
};

}  // namespace frazil::cli
