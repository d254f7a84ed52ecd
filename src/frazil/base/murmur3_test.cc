#include "frazil/base/murmur3.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/byte_reader.h"
#include "frazil/base/hex.h"

namespace frazil {
namespace {

TEST(Murmur3, MatchesTheIcebergVectors) {
  struct Row {
    std::string_view hex;
    int32_t hash;
  };
  // tests/corpora/iceberg-vectors.json, "hash32": Iceberg spec, Appendix B, and apache/iceberg TestBucketing.
  for (auto [hex, hash] : {
           Row{"2200000000000000", 2017239379},                                                       // int, long 34
           Row{"058c", -500754589},                                                                   // decimal 14.20
           Row{"4e44000000000000", -653330422},                                                       // date
           Row{"008307e012000000", -662762989},                                                       // time
           Row{"00c3262d215e0500", -2047944441},                                                      // timestamp
           Row{"01c3262d215e0500", -1207196810},                                                      // timestamp
           Row{"69636562657267", 1210000089},                                                         // "iceberg"
           Row{"f79c3e09677c4bbda4793f349cb785e7", 1488055340},                                       // uuid
           Row{"00010203", -188683207},                                                               // fixed, binary
           Row{"0100000000000000", 1392991556},                                                       // true
           Row{"000000000000f03f", -142385009},                                                       // 1.0
           Row{"0000000000000000", 1669671676},                                                       // 0.0
           Row{"737472696e672077697468206120737572726f6761746520706169723a20f09f92b0", -1601900220},  // U+1F4B0
       }) {
    EXPECT_EQ(murmur3_x86_32(decode_hex(hex).value()), hash) << hex;
  }
}

TEST(Murmur3, MatchesMmh3AtEveryTailLength) {
  struct Row {
    std::string text;
    int32_t hash;
    int32_t hash_with_seed_42;
  };
  // Python's mmh3.hash(text, seed).
  for (const auto& [text, hash, seeded] :
       {Row{"", 0, 142593372}, Row{"a", 1009084850, -1293573533}, Row{"ab", -1681926305, -684913081},
        Row{"abc", -1277324294, 1313807976}, Row{"abcd", 1139631978, -396302900},
        Row{"hello, world", 345750399, 2127021762}, Row{std::string(1000, 'x'), 1897939982, -1727652553}}) {
    EXPECT_EQ(murmur3_x86_32(text), hash) << text;
    EXPECT_EQ(murmur3_x86_32(text, 42), seeded) << text;
  }
}

TEST(Murmur3, HashesInt64AsItsBytes) {
  EXPECT_EQ(murmur3_x86_32_of_int64(34), 2017239379);
  EXPECT_EQ(murmur3_x86_32_of_int64(0), 1669671676);
  EXPECT_EQ(murmur3_x86_32_of_int64(-1), 1651860712);
  EXPECT_EQ(murmur3_x86_32_of_int64(INT64_MAX), -2106506049);
  EXPECT_EQ(murmur3_x86_32_of_int64(INT64_MIN), 1366273829);
}

RC_GTEST_PROP(Murmur3, TheInt64FormIsTheGeneralOne, (int64_t value, uint32_t seed)) {
  std::byte bytes[8];
  store(bytes, value);
  RC_ASSERT(murmur3_x86_32_of_int64(value, seed) == murmur3_x86_32(std::span<const std::byte>(bytes), seed));
}

}  // namespace
}  // namespace frazil
