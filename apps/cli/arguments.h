// The tree of verbs with their arguments. CLI11 does the parsing and is seen in arguments.cc alone: its header costs
// eight seconds of compiling.
//
//   void add_uuid(Command& root) {
//     struct Options { std::string table; };
//     auto options = std::make_shared<Options>();
//     root.add("uuid", "Print the UUID of a table")
//         .positional("TABLE", options->table, "namespace.table, or a path")
//         .example("frazil uuid web.hits")
//         .action([options](Session& session) { ... });
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace frazil::cli {

class Session;

enum class Presence : uint8_t { kRequired, kOptional };

// A handle on a verb; copies mean the same one. What the targets refer to must live as long as the action, so keep it
// in a shared_ptr that the action owns.
class Command {
 public:
  struct State;

  // A verb below this one. `name` may hold aliases: "refs,list-refs".
  Command add(const std::string& names, const std::string& summary);

  Command& positional(const std::string& name, std::string& target, const std::string& help,
                      Presence presence = Presence::kRequired);
  // One or more (kRequired), or any number.
  Command& positionals(const std::string& name, std::vector<std::string>& target, const std::string& help,
                       Presence presence = Presence::kRequired);
  // `flags`: "--select" or "-n,--limit"; `value` names it in the help.
  Command& option(const std::string& flags, std::optional<std::string>& target, const std::string& value,
                  const std::string& help);
  Command& option(const std::string& flags, std::optional<int64_t>& target, const std::string& value,
                  const std::string& help);
  // May be given several times.
  Command& option(const std::string& flags, std::vector<std::string>& target, const std::string& value,
                  const std::string& help);
  // One of `choices`.
  Command& choice(const std::string& flags, std::optional<std::string>& target, const std::vector<std::string>& choices,
                  const std::string& help);
  Command& flag(const std::string& flags, bool& target, const std::string& help);
  // Of the two options only one may be given.
  Command& exclude(const std::string& flag, const std::string& other_flag);

  Command& example(const std::string& line);
  // Works, but stands in no help: other programs' words.
  Command& hidden();
  Command& action(std::function<void(Session&)> run);

 private:
  friend class CommandLine;
  explicit Command(State* state) : state_(state) {}
  State* state_;
};

// The whole: the program's own options and its verbs.
class CommandLine {
 public:
  CommandLine(const std::string& summary, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Options added here are valid before and behind every verb.
  Command& root();

  // What was asked for: the verb's action, or the text of --help and --version.
  struct Parsed {
    std::function<void(Session&)> action;
    std::string text;
  };
  // Throws Error(kInvalidArgument), with a hint, for what is no command line.
  Parsed parse(int argc, const char* const* argv);

  // A script for "bash", "zsh" or "fish" that completes verbs and options.
  std::string completion_script(const std::string& shell) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace frazil::cli
