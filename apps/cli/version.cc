#include <string>

#include "session.h"
#include "verbs.h"

#include "frazil/json/value.h"

namespace frazil::cli {

void add_version(Command& root) {
  root.add("version", "Print the version of this program").action([](Session& session) {
    if (session.is_json()) {
      json::Object object;
      object.emplace_back("version", json::Value(FRAZIL_VERSION));
      session.print_json(json::Value(std::move(object)));
    } else {
      session.print_line(FRAZIL_VERSION);
    }
  });
}

void add_completion(Command& root, const CommandLine& command_line) {
  auto shell = std::make_shared<std::string>();
  root.add("completion", "Print a script that completes verbs and options in a shell")
      .positional("SHELL", *shell, "bash, zsh or fish")
      .example("eval \"$(frazil completion bash)\"")
      .action(
          [shell, &command_line](Session& session) { session.out().write(command_line.completion_script(*shell)); });
}

}  // namespace frazil::cli
