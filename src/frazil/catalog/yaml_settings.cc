#include "frazil/catalog/yaml_settings.h"

#include <memory>
#include <set>

#include <yaml.h>

#include "frazil/base/error.h"

namespace frazil::catalog {
namespace {

constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxScalars = 10000;

// A map or list that is being read.
struct Level {
  bool is_list = false;
  size_t item_count = 0;
  bool has_key = false;        // maps: a key was read and its value is due
  std::set<std::string> keys;  // maps: lower-cased, for the test on repetition
};

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : file_(file) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() { yaml_parser_delete(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  std::vector<YamlSetting> run() {
    bool at_end = false;
    while (!at_end) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) {
        fail(parser_.problem_mark.line, parser_.problem != nullptr ? parser_.problem : "not YAML");
      }
      std::unique_ptr<yaml_event_t, void (*)(yaml_event_t*)> owner(&event, &yaml_event_delete);
      at_end = event.type == YAML_STREAM_END_EVENT;
      take(event);
    }
    return std::move(settings_);
  }

 private:
  [[noreturn]] void fail(size_t line, std::string_view problem) const {
    throw_error(ErrorKind::kInvalidArgument, "configuration {} line {}: {}", file_, line + 1, problem);
  }

  void take(const yaml_event_t& event) {
    size_t line = event.start_mark.line;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (++document_count_ > 1) fail(line, "only one document is allowed");
        break;
      case YAML_ALIAS_EVENT:
        fail(line, "aliases are not allowed");
      case YAML_MAPPING_START_EVENT:
        refuse_marks(line, event.data.mapping_start.anchor, event.data.mapping_start.tag);
        open(line, false);
        break;
      case YAML_SEQUENCE_START_EVENT:
        refuse_marks(line, event.data.sequence_start.anchor, event.data.sequence_start.tag);
        if (levels_.empty()) fail(line, "expected keys and values, found a list");
        open(line, true);
        break;
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        levels_.pop_back();
        if (!levels_.empty()) finish_value();
        break;
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        refuse_marks(line, scalar.anchor, scalar.tag);
        take_scalar(line, std::string(reinterpret_cast<const char*>(scalar.value), scalar.length));
        break;
      }
      default:
        break;
    }
  }

  void refuse_marks(size_t line, const unsigned char* anchor, const unsigned char* tag) const {
    if (anchor != nullptr) fail(line, "anchors are not allowed");
    if (tag != nullptr) fail(line, "tags are not allowed");
  }

  // Before a value, be it a scalar, a map or a list: its place in the list, if it stands in one.
  void begin_value() {
    Level& level = levels_.back();
    if (level.is_list) path_.push_back(std::to_string(level.item_count++));
  }

  void finish_value() {
    path_.pop_back();
    levels_.back().has_key = false;
  }

  void open(size_t line, bool is_list) {
    if (!levels_.empty()) {
      if (!levels_.back().is_list && !levels_.back().has_key) fail(line, "a key must be text");
      begin_value();
    }
    if (levels_.size() == kMaxDepth) fail(line, "nested too deeply");
    levels_.emplace_back();
    levels_.back().is_list = is_list;
  }

  void take_scalar(size_t line, std::string text) {
    if (levels_.empty()) {
      if (text.empty()) return;  // a file of comments alone
      fail(line, "expected keys and values, found text");
    }
    Level& level = levels_.back();
    if (!level.is_list && !level.has_key) {
      if (text.empty()) fail(line, "a key is empty");
      if (!level.keys.insert(lower_case(text)).second) fail(line, message("key '{}' is given twice", text));
      level.has_key = true;
      path_.push_back(std::move(text));
      return;
    }
    if (settings_.size() == kMaxScalars) fail(line, "too many values");
    begin_value();
    settings_.push_back({path_, std::move(text), line + 1});
    finish_value();
  }

  yaml_parser_t parser_;
  std::string file_;
  std::vector<Level> levels_;
  std::vector<std::string> path_;
  std::vector<YamlSetting> settings_;
  size_t document_count_ = 0;
};

}  // namespace

std::vector<YamlSetting> parse_yaml_settings(std::string_view text, std::string_view file) {
  return Parser(text, file).run();
}

}  // namespace frazil::catalog
