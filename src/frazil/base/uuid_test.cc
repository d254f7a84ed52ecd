#include "frazil/base/uuid.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"

namespace frazil {
namespace {

Uuid any_uuid() {
  Uuid uuid;
  for (std::byte& byte : uuid.bytes) byte = static_cast<std::byte>(*rc::gen::arbitrary<uint8_t>());
  return uuid;
}

TEST(Uuid, HasItsMostSignificantByteFirst) {
  // Iceberg spec, Appendix B.
  const std::string_view text = "f79c3e09-677c-4bbd-a479-3f349cb785e7";
  const Uuid uuid = parse_uuid(text);
  EXPECT_EQ(encode_hex(uuid.bytes), "f79c3e09677c4bbda4793f349cb785e7");
  EXPECT_EQ(to_string(uuid), text);
  EXPECT_EQ(try_parse_uuid("F79C3E09-677C-4BBD-A479-3F349CB785E7"), uuid);
  EXPECT_EQ(uuid_from_bytes(uuid.bytes), uuid);
}

TEST(Uuid, RefusesEveryOtherShape) {
  for (std::string_view text : {"", "f79c3e09677c4bbda4793f349cb785e7", "f79c3e09-677c-4bbd-a479-3f349cb785e",
                                "f79c3e09-677c-4bbd-a479-3f349cb785e7a", "{79c3e09-677c-4bbd-a479-3f349cb785e}",
                                "f79c3e09-677c-4bbd-a4793-f349cb785e7", "g79c3e09-677c-4bbd-a479-3f349cb785e7",
                                "f79c3e09-677c-4bbd-a479-3f349cb785e ", "f79c3e09+677c-4bbd-a479-3f349cb785e7",
                                "eb26bdb1-a1d8-4aa6-990e-da940875492c-abcde"}) {
    EXPECT_EQ(try_parse_uuid(text), std::nullopt) << text;
    try {
      parse_uuid(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_TRUE(error.message().starts_with("not a UUID: '" + std::string(text) + "'")) << error.message();
    }
  }
}

RC_GTEST_PROP(Uuid, TextRoundTrips, ()) {
  const Uuid uuid = any_uuid();
  RC_ASSERT(try_parse_uuid(to_string(uuid)) == uuid);
}

RC_GTEST_PROP(Uuid, OrdersLikeItsText, ()) {
  const Uuid left = any_uuid();
  const Uuid right = any_uuid();
  RC_ASSERT((left <=> right) == (to_string(left) <=> to_string(right)));
}

TEST(Uuid, JavaOrdersItsHalvesAsSignedNumbers) {
  const Uuid low = parse_uuid("10000000-0000-0000-0000-000000000000");
  const Uuid middle = parse_uuid("20000000-0000-0000-0000-000000000000");
  const Uuid high = parse_uuid("90000000-0000-0000-0000-000000000000");
  EXPECT_TRUE(low < middle && middle < high);
  EXPECT_TRUE(compare_java_uuid(high, low) < 0);
  EXPECT_TRUE(compare_java_uuid(low, middle) < 0);
  const Uuid low_half = parse_uuid("10000000-0000-0000-9000-000000000000");
  EXPECT_TRUE(compare_java_uuid(low_half, low) < 0);
  EXPECT_TRUE(compare_java_uuid(low, low) == 0);
}

TEST(Uuid, NewOnesCarryVersionAndVariant) {
  for (int fill : {0x00, 0xff}) {
    std::array<std::byte, 16> random;
    random.fill(static_cast<std::byte>(fill));
    const std::string v4 = to_string(make_uuid_v4(random));
    EXPECT_EQ(v4, fill == 0 ? "00000000-0000-4000-8000-000000000000" : "ffffffff-ffff-4fff-bfff-ffffffffffff");
    const std::string v7 = to_string(make_uuid_v7(0x017f22e279b0, std::span(random).first<10>()));
    // RFC 9562, appendix A.6 has this time.
    EXPECT_EQ(v7, fill == 0 ? "017f22e2-79b0-7000-8000-000000000000" : "017f22e2-79b0-7fff-bfff-ffffffffffff");
  }
}

}  // namespace
}  // namespace frazil
