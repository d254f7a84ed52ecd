#include "frazil/ipc/schema_cache.h"

#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/ipc/messages_test.h"
#include "frazil/ipc/read_schema.h"
#include "frazil/ipc/stream_reader.h"

namespace frazil::ipc {
namespace {

using testing::end_of_stream;
using testing::made;

// What stands for something decoded, and can be told from others by its only field.
std::shared_ptr<const ReadSchema> named(std::string name) {
  auto schema = std::make_shared<ReadSchema>();
  schema->schema = Schema::make({{.name = std::move(name), .type = primitive(TypeId::kInt32)}});
  return schema;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string random_text(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

SchemaPtr schema_of(const std::string& stream, const ReadOptions& options) {
  MemoryPool pool;
  return StreamReader(Buffer::from_string(stream), pool, options).schema();
}

TEST(SchemaCache, TellsBytesApartThatDifferInAnyOneBit) {
  // Longer than what a mark is made of, so that most of them have equal marks.
  for (const size_t size : {1U, 7U, 8U, 9U, 400U}) {
    const std::string text = random_text(size, 1);
    SchemaCache cache;
    const auto schema = named("whole");
    cache.put(bytes_of(text), schema);
    EXPECT_EQ(cache.find(bytes_of(text)), schema);
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      std::string other = text;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_EQ(cache.find(bytes_of(other)), nullptr) << "bit " << bit << " of " << size << " bytes";
    }
    EXPECT_EQ(cache.find(bytes_of(text + '\0')), nullptr);
    EXPECT_EQ(cache.find(bytes_of(text).first(size - 1)), nullptr);
  }
}

TEST(SchemaCache, KeepsBytesOfEqualMarksSideBySide) {
  SchemaCache cache;
  std::vector<std::pair<std::string, std::shared_ptr<const ReadSchema>>> put;
  for (size_t i = 0; i < SchemaCache::kEntriesMax; ++i) {
    std::string text(400, 'x');
    text[20 + i] = 'y';  // a byte that no mark looks at
    put.emplace_back(text, named(std::to_string(i)));
    cache.put(bytes_of(text), put.back().second);
  }
  for (const auto& [text, schema] : put) EXPECT_EQ(cache.find(bytes_of(text)), schema);
}

TEST(SchemaCache, KeepsTheLastUsedWithinItsBounds) {
  SchemaCache cache;
  const std::string hot = random_text(300, 0);
  const auto schema = named("hot");
  cache.put(bytes_of(hot), schema);
  cache.put(bytes_of(hot), named("again"));
  EXPECT_EQ(cache.entry_count(), 1U);
  std::mt19937_64 random(7);
  for (uint64_t seed = 1; seed < 200; ++seed) {
    // Some of them are as large as one may be, others larger, and some decoded ones much larger than their bytes.
    const size_t size = seed % 5 == 0 ? random() % (SchemaCache::kBytesMax * 3 / 4) : random() % 1000;
    const size_t name_size = seed % 7 == 0 ? random() % SchemaCache::kBytesMax : 1;
    const std::string text = random_text(size, seed);
    const auto other = named(std::string(name_size, 'n'));
    cache.put(bytes_of(text), other);
    const bool is_kept = size + byte_size_of(*other) <= SchemaCache::kBytesMax / 2;
    EXPECT_EQ(cache.find(bytes_of(text)), is_kept ? other : nullptr) << size << " bytes, a name of " << name_size;
    EXPECT_LE(cache.entry_count(), SchemaCache::kEntriesMax);
    EXPECT_LE(cache.byte_size(), SchemaCache::kBytesMax);
    EXPECT_EQ(cache.find(bytes_of(hot)), schema);
  }
  EXPECT_GE(cache.byte_size(), hot.size() + byte_size_of(*schema));
}

TEST(SchemaCache, CountsWhatSchemasKeepOnTheHeap) {
  const auto size_of = [](const Schema& schema) {
    return byte_size_of(*ReadSchema::make(SchemaMessage(bytes_of(made(schema)))));
  };
  // Texts that lie in their strings are counted as if they did not.
  const std::string text(1000 + std::string().capacity(), 't');
  const size_t much = 1000;
  const Field plain{.name = "a", .type = primitive(TypeId::kInt32)};
  const size_t least = size_of(Schema({plain}));
  EXPECT_GE(size_of(Schema({{.name = text, .type = plain.type}})), least + much);
  EXPECT_GE(size_of(Schema({{.name = "a", .type = plain.type, .metadata = {{text, text}}}})), least + 2 * much);
  EXPECT_GE(size_of(Schema({plain}, {{"k", text}})), least + much);
  EXPECT_GE(size_of(Schema({{.name = "a", .type = timestamp(TimeUnit::kMilli, text)}})), least + much);
  const DataTypePtr nested = struct_({{.name = text, .type = dictionary(primitive(TypeId::kInt8), plain.type)}});
  EXPECT_GE(size_of(Schema({{.name = "a", .type = nested}})), least + much + sizeof(ReadSchema::Dictionary));
}

TEST(SchemaCache, IsSharedByReadersUnlessTheySayOtherwise) {
  const auto stream_of = [](const Schema& schema) { return made(schema) + end_of_stream(); };
  const DataTypePtr codes = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  const Schema plain({{.name = "cached", .type = codes}}, {{"k", "v"}});
  const std::string stream = stream_of(plain);
  const SchemaPtr first = schema_of(stream, {});
  EXPECT_EQ(schema_of(stream, {}), first);
  EXPECT_TRUE(first->equals(plain, true));
  // One of the reader's own, or none.
  SchemaCache own;
  const SchemaPtr other = schema_of(stream, {.schema_cache = &own});
  EXPECT_NE(other, first);
  EXPECT_EQ(schema_of(stream, {.schema_cache = &own}), other);
  EXPECT_NE(schema_of(stream, {.schema_cache = nullptr}), schema_of(stream, {.schema_cache = nullptr}));
  // All that a schema has makes a difference.
  const Schema others[] = {
      Schema({{.name = "cached", .type = codes}}, {{"k", "w"}}),
      Schema({{.name = "cashed", .type = codes}}, {{"k", "v"}}),
      Schema({{.name = "cached", .type = codes, .nullable = false}}, {{"k", "v"}}),
      Schema({{.name = "cached", .type = codes, .metadata = {{"k", "v"}}}}, {{"k", "v"}}),
      Schema({{.name = "cached", .type = dictionary(primitive(TypeId::kInt16), primitive(TypeId::kUtf8))}},
             {{"k", "v"}}),
  };
  for (const Schema& schema : others) {
    EXPECT_TRUE(schema_of(stream_of(schema), {})->equals(schema, true)) << schema.to_string();
  }
  EXPECT_EQ(schema_of(stream, {}), first);
}

TEST(SchemaCache, KeepsNothingOfWhatIsBroken) {
  const std::string stream = made(Schema({{.name = "a", .type = primitive(TypeId::kInt32)}})) + end_of_stream();
  SchemaCache cache;
  size_t broken = 0;
  for (size_t i = 8; i + 8 < stream.size(); ++i) {
    std::string other = stream;
    other[i] = static_cast<char>(0xFF);
    const size_t before = cache.entry_count();
    try {
      schema_of(other, {.schema_cache = &cache});
    } catch (const Error&) {
      ++broken;
      EXPECT_EQ(cache.entry_count(), before) << "byte " << i;
    }
  }
  EXPECT_GT(broken, 10U);
}

TEST(SchemaCache, IsUsedByManyThreads) {
  constexpr size_t kThreads = 4;
  constexpr size_t kTexts = SchemaCache::kEntriesMax + 4;
  std::vector<std::string> texts;
  for (size_t i = 0; i < kTexts; ++i) texts.push_back(random_text(300, i / 2) + std::to_string(i));
  SchemaCache cache;
  std::vector<std::thread> threads;
  std::vector<size_t> hits(kThreads);
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(thread);
      for (int i = 0; i < 4000; ++i) {
        const size_t which = random() % kTexts;
        const auto found = cache.find(bytes_of(texts[which]));
        if (found == nullptr) {
          cache.put(bytes_of(texts[which]), named(std::to_string(which)));
        } else {
          ++hits[thread];
          ASSERT_EQ(found->schema->field(0).name, std::to_string(which));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const size_t count : hits) EXPECT_GT(count, 0U);
  EXPECT_LE(cache.entry_count(), SchemaCache::kEntriesMax);
}

}  // namespace
}  // namespace frazil::ipc
