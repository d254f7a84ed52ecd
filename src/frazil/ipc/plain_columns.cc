#include "frazil/ipc/plain_columns.h"

#include <algorithm>

#include "frazil/base/bits.h"
#include "frazil/base/byte_reader.h"
#include "frazil/ipc/metadata_tables.h"

namespace frazil::ipc {
namespace {

// Negative offsets and lengths are larger than every body.
struct Place {
  explicit Place(const std::byte* at) : offset(load<uint64_t>(at)), length(load<uint64_t>(at + sizeof(uint64_t))) {}
  bool is_inside(uint64_t body_bytes) const { return length <= body_bytes && offset <= body_bytes - length; }

  uint64_t offset;
  uint64_t length;
};

}  // namespace

void append_plain_columns(ColumnCursor& cursor, size_t column_count, int64_t row_count, std::span<const std::byte> body,
                          const ArenaOwners& owners, std::vector<ArrayPtr>& columns) {
  // Of more values some product below could overflow, and these are fewer than an array without bytes may have.
  static_assert(kMaxImplicitLength <= INT32_MAX);
  if (column_count == 0 || row_count > kMaxImplicitLength) return;  // without columns there is no arena
  const auto rows = static_cast<uint64_t>(row_count);
  const uint64_t validity_bytes = bytes_for_bits(rows);
  const PlannedNode* plan = cursor.plan;
  const PlannedNode* const end = plan + std::min(column_count, cursor.nodes_left);
  const std::byte* node = cursor.node;
  const std::byte* place = cursor.place;
  size_t places_left = cursor.places_left;
  ArrayArena& arena = owners.arena();
  Array* array = arena.room();
  bool is_plain = true;
  const auto slice = [&](const Place& at) { return arena.slice(body.data() + at.offset, at.length); };

  for (; plan != end; ++plan, node += sizeof(FieldNode)) {
    const bool has_bytes = plan->layout == Layout::kBytes;
    if (!has_bytes && plan->layout != Layout::kFixedWidth) break;
    const size_t place_count = has_bytes ? 3 : 2;
    if (places_left < place_count) break;
    const auto null_count = load<int64_t>(node + sizeof(int64_t));
    if (load<int64_t>(node) != row_count || null_count < 0 || null_count > row_count) break;

    const Place validity(place);
    if (!validity.is_inside(body.size()) || (null_count > 0 && validity.length < validity_bytes)) break;
    const Place values(place + sizeof(BufferPlace));
    const auto address = reinterpret_cast<uintptr_t>(body.data()) + values.offset;
    if (!values.is_inside(body.size()) || values.length == 0 || (address & (plan->alignment - 1U)) != 0 ||
        values.length < (has_bytes ? rows + 1 : rows) * plan->width) {
      break;
    }
    // Of a column without bytes: the values again, which are not looked at.
    const Place bytes(place + (place_count - 1) * sizeof(BufferPlace));
    if (!bytes.is_inside(body.size())) break;

    // Without () or {}: its bytes are not zeroed before they are initialised. Empty buffers have nothing to end.
    new (array) Array;
    array->type = *plan->type;
    array->length = row_count;
    array->null_count = null_count;
    if (null_count > 0) new (&array->buffers[0]) Buffer(slice(validity));
    new (&array->buffers[1]) Buffer(slice(values));
    if (has_bytes && bytes.length > 0) new (&array->buffers[2]) Buffer(slice(bytes));
    columns.emplace_back(owners.of(columns.size()), array++);
    if (plan->type->use_count() != 0) is_plain = false;
    place += place_count * sizeof(BufferPlace);
    places_left -= place_count;
  }
  const auto count = static_cast<size_t>(plan - cursor.plan);
  arena.added(count, is_plain);
  cursor = {plan, node, place, cursor.nodes_left - count, places_left};
}

}  // namespace frazil::ipc
