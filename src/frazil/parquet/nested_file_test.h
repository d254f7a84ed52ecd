// Random nested values, written as a Parquet file by shredding them the way the Dremel paper has it: what the reader must
// give back, as JSON of each row, and how many bits it must count for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/bits.h"
#include "frazil/base/hex.h"
#include "frazil/parquet/encoders_test.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet::testing {

struct NestedNode {
  enum class Kind : uint8_t { kInt, kLong, kText, kBool, kFixed, kStruct, kList, kOldList, kRepeated, kMap };
  static constexpr size_t kFixedBytes = 12;  // of kFixed
  Kind kind = Kind::kInt;
  bool optional = false;
  std::string name;
  std::vector<NestedNode> children = {};  // list: the element; map: key, value
  size_t first_leaf = 0;
  size_t leaf_count = 1;

  bool is_leaf() const { return kind < Kind::kStruct; }
  bool is_list() const { return !is_leaf() && kind != Kind::kStruct; }
};

struct NestedValue {
  bool is_null = false;
  int32_t number = 0;
  std::string text = {};
  std::vector<NestedValue> items = {};  // fields; elements; entries, each with key and value
};

// One leaf's levels and values.
struct Shredded {
  std::vector<uint32_t> repetition;
  std::vector<uint32_t> definition;
  std::vector<NestedValue> values;
  NestedNode::Kind kind = NestedNode::Kind::kInt;
  uint32_t max_repetition = 0;
  uint32_t max_definition = 0;
};

class NestedFile {
 public:
  // Nodes above are structs of one field: levels get high, and files do not get large.
  static constexpr int kBranchingDepth = 6;
  // Of all lists: behind them, lists have one. Six lists of 30, one in another, would have 700 million.
  static constexpr int kItemsMax = 100000;
  struct Options {
    int depth = kBranchingDepth;
    int columns = 3;
    size_t rows = 200;
  };

  NestedFile(uint32_t seed, const Options& options) : random_(seed) {
    const int columns = std::uniform_int_distribution<int>(1, options.columns)(random_);
    for (int i = 0; i < columns; ++i) {
      roots.push_back(make_node(options.depth, "c" + std::to_string(i), true));
    }
    std::vector<ColumnSpec> nodes;
    size_t leaf = 0;
    for (NestedNode& root : roots) {
      number_leaves(root, leaf);
      add_specs(root, nodes);
    }
    FileBuilder builder(nodes);
    builder.encoding_stats = pick(0, 3) > 0;
    const int groups = pick(1, 2);
    for (int group = 0; group < groups; ++group) {
      const auto count = static_cast<size_t>(pick(0, static_cast<int>(options.rows)));
      columns_.assign(leaf, {});
      for (const NestedNode& root : roots) describe(root, 0, 0);
      null_percent_ = one_of({0, 10, 50, 100});
      longest_ = one_of({1, 4, 4, 30});
      for (size_t row = 0; row < count; ++row) {
        std::vector<NestedValue> values;
        for (const NestedNode& root : roots) {
          values.push_back(make_value(root));
          shred(root, values.back(), 0, 0, 0);
        }
        rows.push_back(std::move(values));
      }
      std::vector<std::vector<PageSpec>> chunks;
      for (const Shredded& column : columns_) chunks.push_back(make_pages(column));
      builder.row_group(static_cast<int64_t>(count), chunks);
      group_rows.push_back(count);
    }
    bytes = builder.finish();
  }

  std::vector<NestedNode> roots;
  std::vector<std::vector<NestedValue>> rows;  // of all row groups
  std::vector<size_t> group_rows;
  std::string bytes;

  std::string json(size_t row) const {
    std::string text;
    for (size_t i = 0; i < roots.size(); ++i) text += (i == 0 ? "" : ",") + to_json(roots[i], rows[row][i]);
    return text;
  }
  // Values, offsets and validity of a row.
  uint64_t bits(size_t row) const {
    uint64_t bits = 0;
    for (size_t i = 0; i < roots.size(); ++i) bits += count_bits(roots[i], &rows[row][i], false);
    return bits;
  }
  // Of a row's texts outside of lists.
  uint64_t text_bytes(size_t row) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < roots.size(); ++i) sum += count_text_bytes(roots[i], rows[row][i]);
    return sum;
  }

 private:
  using Kind = NestedNode::Kind;

  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  int one_of(std::vector<int> values) {
    return values[static_cast<size_t>(pick(0, static_cast<int>(values.size()) - 1))];
  }

  Kind leaf_kind() { return static_cast<Kind>(pick(0, static_cast<int>(Kind::kStruct) - 1)); }

  NestedNode make_node(int depth, std::string name, bool may_repeat) {
    NestedNode node;
    node.name = std::move(name);
    node.optional = pick(0, 1) == 1;
    if (depth > kBranchingDepth) {
      node.kind = Kind::kStruct;
      node.children.push_back(make_node(depth - 1, "f", true));
      return node;
    }
    const int choice = depth <= 1 ? pick(0, 2) : pick(0, 11);
    switch (choice) {
      case 0:
      case 1:
      case 2:
        node.kind = leaf_kind();
        return node;
      case 3:
      case 4:
      case 5: {
        node.kind = Kind::kStruct;
        const int fields = pick(1, 3);
        for (int i = 0; i < fields; ++i) {
          node.children.push_back(make_node(depth - 1, std::string(1, static_cast<char>('f' + i)), true));
        }
        return node;
      }
      case 6:
        node.kind = Kind::kMap;
        node.children.push_back({.kind = pick(0, 1) == 0 ? Kind::kInt : Kind::kText, .optional = false, .name = "key"});
        node.children.push_back(make_node(depth - 1, "value", false));
        return node;
      case 7:
        node.kind = may_repeat ? Kind::kRepeated : Kind::kList;
        break;
      case 8:
        node.kind = Kind::kOldList;
        break;
      default:
        node.kind = Kind::kList;
    }
    if (node.kind == Kind::kRepeated) node.optional = false;
    NestedNode element = make_node(depth - 1, "element", false);
    if (node.kind != Kind::kList) {
      // The repeated node is the element itself: a leaf or a group of several fields, required.
      element = NestedNode{};
      element.optional = false;
      element.kind = leaf_kind();
      if (depth > 2 && pick(0, 1) == 0) {
        element.kind = Kind::kStruct;
        element.children.push_back(make_node(depth - 2, "x", true));
        element.children.push_back(make_node(depth - 2, "y", true));
      }
      element.name = node.kind == Kind::kRepeated ? node.name : "array";
    }
    node.children.push_back(std::move(element));
    return node;
  }

  static void number_leaves(NestedNode& node, size_t& next) {
    node.first_leaf = next;
    if (node.is_leaf()) ++next;
    for (NestedNode& child : node.children) number_leaves(child, next);
    node.leaf_count = next - node.first_leaf;
  }

  static void add_leaf_or_struct(const NestedNode& node, Repetition repetition, std::vector<ColumnSpec>& out) {
    ColumnSpec spec{.name = node.name, .repetition = repetition};
    if (node.kind == Kind::kText) {
      spec.type = PhysicalType::kByteArray;
      spec.converted = 0;
    } else if (node.kind == Kind::kBool) {
      spec.type = PhysicalType::kBoolean;
    } else if (node.kind == Kind::kLong) {
      spec.type = PhysicalType::kInt64;
    } else if (node.kind == Kind::kFixed) {
      spec.type = PhysicalType::kFixedLenByteArray;
      spec.type_length = static_cast<int32_t>(NestedNode::kFixedBytes);
    } else if (node.kind == Kind::kStruct) {
      spec.child_count = static_cast<int32_t>(node.children.size());
    }
    out.push_back(spec);
    for (const NestedNode& child : node.children) add_specs(child, out);
  }

  static void add_specs(const NestedNode& node, std::vector<ColumnSpec>& out) {
    const Repetition repetition = node.optional ? Repetition::kOptional : Repetition::kRequired;
    switch (node.kind) {
      case Kind::kList:
        out.push_back({.name = node.name, .repetition = repetition, .converted = 3, .child_count = 1});
        out.push_back({.name = "list", .repetition = Repetition::kRepeated, .child_count = 1});
        add_specs(node.children[0], out);
        return;
      case Kind::kOldList:
        out.push_back({.name = node.name, .repetition = repetition, .converted = 3, .child_count = 1});
        add_leaf_or_struct(node.children[0], Repetition::kRepeated, out);
        return;
      case Kind::kRepeated:
        add_leaf_or_struct(node.children[0], Repetition::kRepeated, out);
        return;
      case Kind::kMap:
        out.push_back({.name = node.name, .repetition = repetition, .converted = 1, .child_count = 1});
        out.push_back({.name = "key_value", .repetition = Repetition::kRepeated, .child_count = 2});
        add_specs(node.children[0], out);
        add_specs(node.children[1], out);
        return;
      default:
        add_leaf_or_struct(node, repetition, out);
    }
  }

  // The highest levels of each leaf.
  void describe(const NestedNode& node, uint32_t repetition, uint32_t definition) {
    definition += node.optional ? 1 : 0;
    if (node.is_list()) {
      ++repetition;
      ++definition;
    }
    if (node.is_leaf()) {
      columns_[node.first_leaf].kind = node.kind;
      columns_[node.first_leaf].max_repetition = repetition;
      columns_[node.first_leaf].max_definition = definition;
    }
    for (const NestedNode& child : node.children) describe(child, repetition, definition);
  }

  NestedValue make_value(const NestedNode& node) {
    NestedValue value;
    value.is_null = node.optional && pick(0, 99) < null_percent_;
    if (value.is_null) return value;
    if (node.is_leaf()) {
      value.number = node.kind == Kind::kBool ? pick(0, 1) : pick(-50, 50);
      const size_t size = node.kind == Kind::kFixed ? NestedNode::kFixedBytes : static_cast<size_t>(pick(0, 20));
      value.text = std::string(size, static_cast<char>(pick('a', 'z')));
    } else if (node.kind == Kind::kStruct) {
      for (const NestedNode& child : node.children) value.items.push_back(make_value(child));
    } else {
      int count = pick(0, 99) < 20 ? 0 : pick(1, longest_);
      if (items_left_ < count) count = std::min(count, 1);
      items_left_ -= count;
      for (int i = 0; i < count; ++i) {
        if (node.kind == Kind::kMap) {
          NestedValue entry;
          for (const NestedNode& child : node.children) entry.items.push_back(make_value(child));
          value.items.push_back(std::move(entry));
        } else {
          value.items.push_back(make_value(node.children[0]));
        }
      }
    }
    return value;
  }

  // `depth`: lists around the node. `repetition`: where the first entry goes on; `definition`: what is there above it.
  void shred(const NestedNode& node, const NestedValue& value, uint32_t depth, uint32_t repetition,
             uint32_t definition) {
    if (value.is_null) return shred_nothing(node, repetition, definition);
    definition += node.optional ? 1 : 0;
    if (node.is_leaf()) {
      Shredded& column = columns_[node.first_leaf];
      column.repetition.push_back(repetition);
      column.definition.push_back(definition);
      column.values.push_back(value);
      return;
    }
    if (node.kind == Kind::kStruct) {
      for (size_t i = 0; i < node.children.size(); ++i) {
        shred(node.children[i], value.items[i], depth, repetition, definition);
      }
      return;
    }
    if (value.items.empty()) return shred_nothing(node, repetition, definition);
    for (size_t i = 0; i < value.items.size(); ++i) {
      const uint32_t at = i == 0 ? repetition : depth + 1;
      if (node.kind == Kind::kMap) {
        for (size_t k = 0; k < 2; ++k) {
          shred(node.children[k], value.items[i].items[k], depth + 1, at, definition + 1);
        }
      } else {
        shred(node.children[0], value.items[i], depth + 1, at, definition + 1);
      }
    }
  }

  void shred_nothing(const NestedNode& node, uint32_t repetition, uint32_t definition) {
    for (size_t leaf = node.first_leaf; leaf < node.first_leaf + node.leaf_count; ++leaf) {
      columns_[leaf].repetition.push_back(repetition);
      columns_[leaf].definition.push_back(definition);
    }
  }

  static std::string encode(const std::vector<NestedValue>& values, NestedNode::Kind kind) {
    std::string out;
    for (const NestedValue& value : values) {
      if (kind == Kind::kInt) append(out, value.number);
      if (kind == Kind::kLong) append(out, int64_t{value.number});
      if (kind == Kind::kFixed) out += value.text;
      if (kind == Kind::kText) {
        append(out, static_cast<uint32_t>(value.text.size()));
        out += value.text;
      }
    }
    if (kind == Kind::kBool) {
      out.assign((values.size() + 7) / 8, '\0');
      for (size_t i = 0; i < values.size(); ++i)
        out[i / 8] = static_cast<char>(out[i / 8] | values[i].number << (i % 8));
    }
    return out;
  }

  // Any encoding of values of the kind, without a dictionary.
  std::pair<std::string, Encoding> encode_any(const std::vector<NestedValue>& values, NestedNode::Kind kind) {
    std::string plain = encode(values, kind);
    const int choice = pick(0, 3);
    if (choice < 2 || kind == Kind::kBool) return {std::move(plain), Encoding::kPlain};
    if (kind == Kind::kText) {
      std::vector<std::string> texts;
      for (const NestedValue& value : values) texts.push_back(value.text);
      if (choice == 2) return {delta_length(texts), Encoding::kDeltaLengthByteArray};
      return {delta_prefix(texts), Encoding::kDeltaByteArray};
    }
    const size_t width = kind == Kind::kInt ? 4 : kind == Kind::kLong ? 8 : NestedNode::kFixedBytes;
    if (choice == 2 || kind == Kind::kFixed) return {split_bytes(plain, width), Encoding::kByteStreamSplit};
    std::vector<int32_t> numbers;
    for (const NestedValue& value : values) numbers.push_back(value.number);
    if (kind == Kind::kInt) return {delta_packed(numbers), Encoding::kDeltaBinaryPacked};
    return {delta_packed(std::vector<int64_t>(numbers.begin(), numbers.end())), Encoding::kDeltaBinaryPacked};
  }

  // Pages of either version; those of version 1 end anywhere in a row.
  std::vector<PageSpec> make_pages(const Shredded& column) {
    std::vector<PageSpec> pages;
    const int version = pick(1, 3);  // 3: both
    const int longest = one_of({3, 40, 2000});
    // None, one that other encodings follow, or one of all values.
    std::vector<NestedValue> dictionary;
    int index_bits = 6;
    if (const int choice = pick(0, 3); column.kind != Kind::kBool && !column.values.empty() && choice < 2) {
      dictionary = column.values;
      if (choice == 0 && dictionary.size() > 60) dictionary.resize(60);
      index_bits = std::max(index_bits, bit_width_of(dictionary.size() - 1));
      pages.push_back(dictionary_page(encode(dictionary, column.kind), static_cast<int32_t>(dictionary.size())));
    }
    size_t value = 0;
    for (size_t begin = 0; begin < column.definition.size();) {
      size_t end = std::min(column.definition.size(), begin + static_cast<size_t>(pick(1, longest)));
      // v2 pages hold whole rows: one starts where the page before ended with a row.
      const bool is_v2 = version != 1 && (version == 2 || pick(0, 1) == 1) && column.repetition[begin] == 0;
      if (is_v2 || version == 2) {
        while (end < column.repetition.size() && column.repetition[end] != 0) ++end;
      }
      std::vector<NestedValue> values;
      std::vector<uint32_t> indices;
      bool known = !dictionary.empty();
      for (size_t i = begin; i < end; ++i) {
        if (column.definition[i] < column.max_definition) continue;
        known = known && value < dictionary.size();
        indices.push_back(static_cast<uint32_t>(value));
        values.push_back(column.values[value++]);
      }
      auto [payload, encoding] =
          known ? std::pair(static_cast<char>(index_bits) + hybrid(indices, index_bits), Encoding::kRleDictionary)
                : encode_any(values, column.kind);
      PageSpec page = data_page(std::move(payload), static_cast<int32_t>(end - begin), encoding);
      const auto slice = [&](const std::vector<uint32_t>& levels, uint32_t max) {
        if (max == 0) return std::string();
        const auto from = levels.begin() + static_cast<ptrdiff_t>(begin);
        return hybrid({from, from + static_cast<ptrdiff_t>(end - begin)}, bit_width_of(max));
      };
      const std::string repetition = slice(column.repetition, column.max_repetition);
      const std::string definition = slice(column.definition, column.max_definition);
      if (is_v2) {
        page.type = PageType::kDataV2;
        page.repetition_levels = repetition;
        page.definition_levels = definition;
        page.row_count = static_cast<int32_t>(std::count(column.repetition.begin() + static_cast<ptrdiff_t>(begin),
                                                         column.repetition.begin() + static_cast<ptrdiff_t>(end), 0U));
      } else {
        std::string levels;
        if (column.max_repetition > 0) levels += with_length(repetition);
        if (column.max_definition > 0) levels += with_length(definition);
        page.payload = levels + page.payload;
      }
      pages.push_back(std::move(page));
      begin = end;
    }
    return pages;
  }

  static std::string to_json(const NestedNode& node, const NestedValue& value) {
    if (value.is_null) return "null";
    const auto join = [&](auto&& text) {
      std::string out;
      for (size_t i = 0; i < value.items.size(); ++i) out += (i == 0 ? "" : ",") + text(i);
      return out;
    };
    switch (node.kind) {
      case Kind::kInt:
      case Kind::kLong:
        return std::to_string(value.number);
      case Kind::kFixed:
        return "\"" + encode_hex(value.text) + "\"";
      case Kind::kText:
        return "\"" + value.text + "\"";
      case Kind::kBool:
        return value.number != 0 ? "true" : "false";
      case Kind::kStruct:
        return "{" + join([&](size_t i) {
                 return "\"" + node.children[i].name + "\":" + to_json(node.children[i], value.items[i]);
               }) +
               "}";
      case Kind::kMap:
        return "{\"keys\":[" + join([&](size_t i) { return to_json(node.children[0], value.items[i].items[0]); }) +
               "],\"values\":[" + join([&](size_t i) { return to_json(node.children[1], value.items[i].items[1]); }) +
               "]}";
      default:
        return "[" + join([&](size_t i) { return to_json(node.children[0], value.items[i]); }) + "]";
    }
  }

  static uint64_t count_text_bytes(const NestedNode& node, const NestedValue& value) {
    if (value.is_null || node.is_list()) return 0;
    uint64_t sum = node.kind == Kind::kText ? value.text.size() : 0;
    for (size_t i = 0; i < value.items.size(); ++i) sum += count_text_bytes(node.children[i], value.items[i]);
    return sum;
  }

  // A slot of the node. nullptr: what is around it is null. `may_be_null`: something between it and its list may.
  static uint64_t count_bits(const NestedNode& node, const NestedValue* value, bool may_be_null) {
    if (value != nullptr && value->is_null) value = nullptr;
    may_be_null = may_be_null || node.optional;
    uint64_t bits = 0;
    switch (node.kind) {
      case Kind::kInt:
        return 32 + (may_be_null ? 1 : 0);
      case Kind::kLong:
        return 64 + (may_be_null ? 1 : 0);
      case Kind::kFixed:
        return 8 * NestedNode::kFixedBytes + (may_be_null ? 1 : 0);
      case Kind::kBool:
        return 1 + (may_be_null ? 1 : 0);
      case Kind::kText:
        return 32 + (may_be_null ? 1 : 0) + (value != nullptr ? value->text.size() * 8 : 0);
      case Kind::kStruct:
        bits = node.optional ? 1 : 0;
        for (size_t i = 0; i < node.children.size(); ++i) {
          bits += count_bits(node.children[i], value != nullptr ? &value->items[i] : nullptr, may_be_null);
        }
        return bits;
      default:
        bits = 32 + (node.optional ? 1 : 0);
        if (value == nullptr) return bits;
        for (const NestedValue& item : value->items) {
          if (node.kind == Kind::kMap) {
            for (size_t k = 0; k < 2; ++k) bits += count_bits(node.children[k], &item.items[k], false);
          } else {
            bits += count_bits(node.children[0], &item, false);
          }
        }
        return bits;
    }
  }

  std::mt19937 random_;
  std::vector<Shredded> columns_;
  int null_percent_ = 0;
  int longest_ = 4;
  int items_left_ = kItemsMax;
};

}  // namespace frazil::parquet::testing
