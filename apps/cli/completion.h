// Scripts by which shells complete verbs and options of the program.
#pragma once

#include <string>
#include <vector>

namespace frazil::cli {

struct CompletionOption {
  std::string flag;
  std::string help;
  std::vector<std::string> choices;
};

struct CompletionVerb {
  std::string name;
  std::string summary;
  std::vector<CompletionOption> options;
  std::vector<CompletionVerb> verbs;
};

// For "bash", "zsh" (through its bash emulation) or "fish". Throws Error(kInvalidArgument) for another shell.
std::string make_completion_script(const CompletionVerb& root, const std::string& shell);

}  // namespace frazil::cli
