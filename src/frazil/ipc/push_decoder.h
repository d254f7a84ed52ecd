// PushDecoder: the streaming format (Columnar format, "IPC Streaming Format") out of bytes that somebody else brings,
// in pieces of any size: an event loop, a browser, a message queue.
//
//   PushDecoder decoder(pool);
//   while (receive(bytes)) {
//     decoder.push(bytes);
//     while (std::optional<RecordBatch> batch = decoder.next()) consume(*batch);
//   }
//   decoder.finish();
//
//   stream := schema (dictionary | batch)* end?
//
// A stream may also start as a file does, with "ARROW1" and two bytes of padding. What follows its end is not looked
// at.
//
// A batch keeps the dictionaries of its moment. A dictionary may be replaced or extended; a column of nothing but nulls
// may come before its dictionary. Deltas are put behind what they extend when a batch uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frazil/columnar/array.h"
#include "frazil/ipc/read_options.h"
#include "frazil/memory/buffer.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::ipc {

// One thread at a time. After an error it is of no further use.
class PushDecoder {
 public:
  // `pool` outlives it and its batches.
  explicit PushDecoder(MemoryPool& pool, ReadOptions options = {});
  ~PushDecoder();
  PushDecoder(PushDecoder&&) noexcept;
  PushDecoder& operator=(PushDecoder&&) noexcept;

  // How many more bytes make the next step possible: fewer are fine, more too. After next() gave nothing it is 0 at the end
  // only.
  size_t next_required_size() const;
  // The next bytes of the stream, copied. Whoever calls next() until it gives nothing has no more of them held than a
  // message.
  void push(std::span<const std::byte> bytes);
  // The same; batches share the buffer where a message's body lies in it as a whole.
  void push(Buffer bytes);

  // For who reads into memory of the decoder's: where the next bytes may go, never empty before the end, and how many
  // of them are there now. Requires that next() gave nothing. Past what is required it reads ahead by kReadAheadBytes
  // at most.
  std::span<std::byte> room();
  void filled(size_t bytes);
  static constexpr size_t kReadAheadBytes = size_t{64} << 10;

  // The next batch of what was pushed; nothing if that takes more bytes, or at the end. Throws CorruptError with the
  // offset in the stream, Error(kUnsupported), MemoryLimitError, Error(kInvalidArgument) if the options ask for columns
  // that are not there.
  std::optional<RecordBatch> next();
  // Of the batches (what was chosen of it); nullptr until it is known, which next() finds out.
  const SchemaPtr& schema() const;
  // Custom metadata of the message of the last batch.
  Metadata custom_metadata() const;
  // Whether the end of the stream was seen, by its marker or finish().
  bool at_end() const;
  // There are no more bytes: right between messages, also without a marker. Throws CorruptError inside of a message or
  // before a schema.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::ipc
