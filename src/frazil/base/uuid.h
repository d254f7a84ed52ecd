// UUIDs (RFC 9562): 16 bytes, most significant first, as Iceberg, Parquet, Avro and Arrow store them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace frazil {

struct Uuid {
  static constexpr size_t kByteSize = 16;
  static constexpr size_t kTextSize = 36;

  std::array<std::byte, kByteSize> bytes{};

  // Unsigned, byte by byte, as Parquet orders them. Iceberg Java compares signed halves: see compare_java_uuid.
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

// The first 16 bytes. Requires bytes.size() >= 16.
Uuid uuid_from_bytes(std::span<const std::byte> bytes) noexcept;

// "f79c3e09-677c-4bbd-a479-3f349cb785e7": exactly 36 characters, digits in either case.
std::optional<Uuid> try_parse_uuid(std::string_view text) noexcept;
// Throws Error(kInvalidArgument).
Uuid parse_uuid(std::string_view text);

// Lower case.
std::string to_string(const Uuid& uuid);
void append_uuid(std::string& target, const Uuid& uuid);

// java.util.UUID.compareTo: two signed 64-bit halves. Bounds written by Iceberg Java follow it.
std::strong_ordering compare_java_uuid(const Uuid& left, const Uuid& right) noexcept;

// Version 4 of 16 random bytes: sets the version and variant bits. The caller owns the randomness.
Uuid make_uuid_v4(std::span<const std::byte, Uuid::kByteSize> random_bytes) noexcept;
// Version 7: milliseconds since 1970 in front, so that later ones sort later; 10 random bytes behind.
Uuid make_uuid_v7(uint64_t unix_ms, std::span<const std::byte, 10> random_bytes) noexcept;

}  // namespace frazil
