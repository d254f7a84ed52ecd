// What both writers ask before each call: that no call failed or ended the output, and that the batch is one of theirs.
#pragma once

#include <exception>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/io/byte_sink.h"

namespace frazil::ipc {

class WriterState {
 public:
  // While it lives the writer is in use. If an exception leaves the scope it stays so: what the sink has got is not whole.
  class Use {
   public:
    // Throws Error(kInternal) unless the writer is usable.
    Use(WriterState& state, const ByteSink& sink) : state_(state), exceptions_(std::uncaught_exceptions()) {
      if (!state.usable_) {
        throw_error(ErrorKind::kInternal, "what is written to {} is finished or has failed already", sink.name());
      }
      state.usable_ = false;
    }
    ~Use() {
      if (std::uncaught_exceptions() == exceptions_ && !state_.ended_) state_.usable_ = true;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    WriterState& state_;
    const int exceptions_;
  };

  void end() { ended_ = true; }

 private:
  bool usable_ = true;
  bool ended_ = false;
};

// Throws Error(kInvalidArgument) for a batch of another schema, metadata aside.
inline void check_schema(const RecordBatch& batch, const Schema& schema) {
  if (batch.schema().get() != &schema && !batch.schema()->equals(schema)) {
    throw_error(ErrorKind::kInvalidArgument, "a batch's schema is not the one that was written");
  }
}

}  // namespace frazil::ipc
