#include "arguments.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "completion.h"

#include "frazil/base/error.h"
#include "frazil/base/number_text.h"

namespace frazil::cli {
namespace {

constexpr size_t kHelpIndent = 28;

struct Argument {
  std::string text;  // "--limit N", "TABLE"
  std::string help;
  std::vector<std::string> choices;
};

// How many letters must change to turn one word into the other.
size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < left.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < right.size(); ++j) {
      size_t changed = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> result;
  size_t begin = 0;
  while (true) {
    size_t end = names.find(',', begin);
    result.push_back(names.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return result;
    begin = end + 1;
  }
}

void append_help_line(std::string& text, const std::string& left, const std::string& help) {
  text += "  " + left;
  if (left.size() + 4 > kHelpIndent) {
    text += '\n' + std::string(kHelpIndent, ' ');
  } else {
    text += std::string(kHelpIndent - left.size() - 2, ' ');
  }
  for (char c : help) text += c == '\n' ? "\n" + std::string(kHelpIndent, ' ') : std::string(1, c);
  text += '\n';
}

}  // namespace

struct Command::State {
  CLI::App* app = nullptr;
  State* parent = nullptr;
  std::vector<std::string> names;  // the first is the verb, the rest are aliases
  std::string summary;
  std::vector<Argument> positionals;
  std::vector<Argument> options;
  std::vector<std::string> examples;
  bool is_hidden = false;
  std::function<void(Session&)> run;
  std::vector<std::unique_ptr<State>> children;

  std::string full_name() const {
    return parent == nullptr ? std::string("frazil") : parent->full_name() + " " + names.front();
  }

  std::string help() const {
    std::string text = parent == nullptr ? "frazil - " + summary + "\n" : summary + ".\n";
    text += "\nUsage: " + full_name();
    bool has_verbs = std::any_of(children.begin(), children.end(), [](const auto& child) { return !child->is_hidden; });
    if (!options.empty() || parent != nullptr) text += " [options]";
    for (const Argument& positional : positionals) text += " " + positional.text;
    if (has_verbs) text += run ? " [verb ...]" : " VERB ...";
    text += '\n';
    if (has_verbs) {
      text += "\nVerbs:\n";
      for (const auto& child : children) {
        if (child->is_hidden) continue;
        append_help_line(text, child->names.front(), child->summary);
      }
    }
    if (!positionals.empty()) {
      text += "\nArguments:\n";
      for (const Argument& positional : positionals) {
        std::string name = positional.text;
        std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
        append_help_line(text, name, positional.help);
      }
    }
    if (!options.empty()) {
      text += parent == nullptr ? "\nOptions of every verb:\n" : "\nOptions:\n";
      for (const Argument& option : options) append_help_line(text, option.text, option.help);
    }
    if (names.size() > 1) {
      text += "\nAlso: ";
      for (size_t i = 1; i < names.size(); ++i) text += (i > 1 ? ", " : "") + names[i];
      text += '\n';
    }
    if (!examples.empty()) {
      text += "\nExamples:\n";
      for (const std::string& example : examples) text += "  " + example + "\n";
    }
    if (parent != nullptr) text += "\n'frazil --help' tells the options that every verb takes.\n";
    return text;
  }
};

Command Command::add(const std::string& names, const std::string& summary) {
  auto child = std::make_unique<State>();
  child->names = split_names(names);
  child->summary = summary;
  child->parent = state_;
  child->app = state_->app->add_subcommand(child->names.front(), summary);
  for (size_t i = 1; i < child->names.size(); ++i) child->app->alias(child->names[i]);
  child->app->set_help_flag("-h,--help");
  child->app->fallthrough();             // global options may stand behind the verb
  child->app->require_subcommand(0, 1);  // else a table called like a verb would be taken for one
  state_->children.push_back(std::move(child));
  return Command(state_->children.back().get());
}

namespace {

CLI::Option* prepare(CLI::Option* option, const std::string& value) {
  option->type_name(value);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return option;
}

}  // namespace

Command& Command::positional(const std::string& name, std::string& target, const std::string& help, Presence presence) {
  CLI::Option* option = state_->app->add_option(name, target, help);
  if (presence == Presence::kRequired) option->required();
  state_->positionals.push_back({presence == Presence::kRequired ? name : "[" + name + "]", help, {}});
  return *this;
}

Command& Command::positionals(const std::string& name, std::vector<std::string>& target, const std::string& help,
                              Presence presence) {
  CLI::Option* option = state_->app->add_option(name, target, help);
  if (presence == Presence::kRequired) option->required();
  state_->positionals.push_back({presence == Presence::kRequired ? name + "..." : "[" + name + "...]", help, {}});
  return *this;
}

Command& Command::option(const std::string& flags, std::optional<std::string>& target, const std::string& value,
                         const std::string& help) {
  prepare(state_->app->add_option_function<std::string>(
              flags, [&target](const std::string& text) { target = text; }, help),
          value);
  state_->options.push_back({flags + " " + value, help, {}});
  return *this;
}

Command& Command::option(const std::string& flags, std::optional<int64_t>& target, const std::string& value,
                         const std::string& help) {
  prepare(state_->app->add_option_function<std::string>(
              flags,
              [&target, flags](const std::string& text) {
                auto number = parse_int64(text);
                if (!number) throw CLI::ValidationError(flags, "expected a whole number, not '" + text + "'");
                target = *number;
              },
              help),
          value);
  state_->options.push_back({flags + " " + value, help, {}});
  return *this;
}

Command& Command::option(const std::string& flags, std::vector<std::string>& target, const std::string& value,
                         const std::string& help) {
  CLI::Option* option = state_->app->add_option(flags, target, help);
  option->type_name(value);
  option->allow_extra_args(false);  // else "--property a=b scan" would take the verb for a second property
  state_->options.push_back({flags + " " + value, help, {}});
  return *this;
}

Command& Command::choice(const std::string& flags, std::optional<std::string>& target,
                         const std::vector<std::string>& choices, const std::string& help) {
  std::string value;
  for (const std::string& choice : choices) value += (value.empty() ? "" : "|") + choice;
  prepare(state_->app->add_option_function<std::string>(
              flags,
              [&target, flags, choices, value](const std::string& text) {
                if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
                  throw CLI::ValidationError(flags, "expected " + value + ", not '" + text + "'");
                }
                target = text;
              },
              help),
          value);
  state_->options.push_back({flags + " " + value, help, choices});
  return *this;
}

Command& Command::flag(const std::string& flags, bool& target, const std::string& help) {
  state_->app->add_flag(flags, target, help);
  state_->options.push_back({flags, help, {}});
  return *this;
}

Command& Command::exclude(const std::string& flag, const std::string& other_flag) {
  state_->app->get_option(flag)->excludes(state_->app->get_option(other_flag));
  return *this;
}

Command& Command::example(const std::string& line) {
  state_->examples.push_back(line);
  return *this;
}

Command& Command::hidden() {
  state_->is_hidden = true;
  return *this;
}

Command& Command::action(std::function<void(Session&)> run) {
  state_->run = std::move(run);
  return *this;
}

struct CommandLine::Implementation {
  CLI::App app;
  Command::State state;
  Command root{&state};
  std::string version;

  // The verb that was named, as deep as the arguments went.
  const Command::State& deepest() const {
    const Command::State* at = &state;
    while (true) {
      const Command::State* next = nullptr;
      for (const auto& child : at->children) {
        if (child->app->parsed()) next = child.get();
      }
      if (next == nullptr) return *at;
      at = next;
    }
  }

  std::string near_verb(const Command::State& at, const std::string& word) const {
    std::string best;
    size_t best_distance = 3;
    for (const auto& child : at.children) {
      for (const std::string& name : child->names) {
        size_t distance = edit_distance(word, name);
        if (distance < best_distance) {
          best = name;
          best_distance = distance;
        }
      }
    }
    return best;
  }

  [[noreturn]] void fail(const Command::State& at, std::string text, std::string hint = {}) const {
    Error error(ErrorKind::kInvalidArgument, std::move(text));
    throw error.set_hint(hint.empty() ? "see " + at.full_name() + " --help" : std::move(hint));
  }

  [[noreturn]] void fail_unknown_verb(const Command::State& at, const std::string& word) const {
    std::string near = near_verb(at, word);
    fail(at, word.starts_with('-') ? "unknown option " + word : "there is no verb '" + word + "'",
         near.empty() ? std::string() : "did you mean " + near + "?");
  }
};

CommandLine::CommandLine(const std::string& summary, const std::string& version)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  self.version = version;
  self.state.app = &self.app;
  self.state.summary = summary;
  self.app.set_help_flag("-h,--help");
  self.app.set_version_flag("--version", version);
  self.app.require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

Command& CommandLine::root() {
  return implementation_->root;
}

CommandLine::Parsed CommandLine::parse(int argc, const char* const* argv) {
  Implementation& self = *implementation_;
  try {
    self.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {{}, self.deepest().help()};
  } catch (const CLI::CallForVersion&) {
    return {{}, self.version + "\n"};
  } catch (const CLI::ParseError& error) {
    const Command::State& at = self.deepest();
    // In the order in which they stood: the first is the one that is wrong.
    std::vector<std::string> rest = self.app.remaining(true);
    if (!rest.empty() && !at.run) self.fail_unknown_verb(at, rest.front());
    if (!rest.empty()) {
      self.fail(at, (rest.front().starts_with('-') ? "unknown option " : "unexpected argument ") + rest.front());
    }
    self.fail(at, error.what());
  }
  const Command::State& at = self.deepest();
  if (!at.run) self.fail(at, "no verb is given");
  return {at.run, {}};
}

namespace {

CompletionVerb describe(const Command::State& state) {
  CompletionVerb verb;
  if (!state.names.empty()) verb.name = state.names.front();
  verb.summary = state.summary;
  for (const Argument& option : state.options) {
    std::string flags = option.text.substr(0, option.text.find(' '));
    for (const std::string& flag : split_names(flags)) verb.options.push_back({flag, option.help, option.choices});
  }
  for (const auto& child : state.children) {
    if (!child->is_hidden) verb.verbs.push_back(describe(*child));
  }
  return verb;
}

}  // namespace

std::string CommandLine::completion_script(const std::string& shell) const {
  return make_completion_script(describe(implementation_->state), shell);
}

}  // namespace frazil::cli
