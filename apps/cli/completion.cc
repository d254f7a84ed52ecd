#include "completion.h"

#include "frazil/base/error.h"

namespace frazil::cli {
namespace {

// A shell word in single quotes.
std::string quote(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  return quoted + "'";
}

std::string words_of(const CompletionVerb& verb, const CompletionVerb& root) {
  std::string words;
  auto add = [&](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  for (const CompletionVerb& child : verb.verbs) add(child.name);
  for (const CompletionOption& option : verb.options) add(option.flag);
  if (&verb != &root) {
    for (const CompletionOption& option : root.options) add(option.flag);
  }
  add("--help");
  return words;
}

// One branch of the case for each path of verbs: "frazil namespace list" completes by the words of that verb.
void append_bash_cases(std::string& script, const CompletionVerb& verb, const CompletionVerb& root,
                       const std::string& path) {
  script += "    " + quote(path) + ") words=" + quote(words_of(verb, root)) + " ;;\n";
  for (const CompletionVerb& child : verb.verbs) {
    append_bash_cases(script, child, root, path.empty() ? child.name : path + " " + child.name);
  }
}

void append_bash_choices(std::string& script, const CompletionVerb& verb) {
  for (const CompletionOption& option : verb.options) {
    if (option.choices.empty()) continue;
    std::string words;
    for (const std::string& choice : option.choices) words += (words.empty() ? "" : " ") + choice;
    script += "    " + option.flag + ") COMPREPLY=($(compgen -W " + quote(words) + " -- \"$current\")); return ;;\n";
  }
  for (const CompletionVerb& child : verb.verbs) append_bash_choices(script, child);
}

std::string bash_script(const CompletionVerb& root) {
  std::string script =
      "# Completion of frazil for bash: eval \"$(frazil completion bash)\"\n"
      "_frazil() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" path= word words=\n"
      "  COMPREPLY=()\n"
      "  case \"$previous\" in\n";
  append_bash_choices(script, root);
  script +=
      "  esac\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$word\" in -*) continue ;; esac\n"
      "    case \"${path:+$path }$word\" in\n"
      "      ";
  std::vector<std::pair<const CompletionVerb*, std::string>> open = {{&root, ""}};
  std::string paths;
  while (!open.empty()) {
    auto [verb, path] = open.back();
    open.pop_back();
    for (const CompletionVerb& child : verb->verbs) {
      std::string child_path = path.empty() ? child.name : path + " " + child.name;
      paths += (paths.empty() ? "" : "|") + quote(child_path);
      open.emplace_back(&child, child_path);
    }
  }
  script += paths +
            ") path=\"${path:+$path }$word\" ;;\n"
            "    esac\n"
            "  done\n"
            "  case \"$path\" in\n";
  append_bash_cases(script, root, root, "");
  script +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  # A word that is no verb and no option may be a table's folder or a file.\n"
      "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "}\n"
      "complete -o filenames -F _frazil frazil\n";
  return script;
}

void append_fish_lines(std::string& script, const CompletionVerb& verb, const std::string& condition) {
  for (const CompletionOption& option : verb.options) {
    script += "complete -c frazil";
    if (!condition.empty()) script += " -n " + quote(condition);
    script += option.flag.starts_with("--") ? " -l " + option.flag.substr(2) : " -s " + option.flag.substr(1);
    if (!option.choices.empty()) {
      std::string words;
      for (const std::string& choice : option.choices) words += (words.empty() ? "" : " ") + choice;
      script += " -x -a " + quote(words);
    }
    script += " -d " + quote(option.help) + "\n";
  }
  std::string here = condition.empty() ? "__fish_use_subcommand" : condition;
  for (const CompletionVerb& child : verb.verbs) {
    script += "complete -c frazil -n " + quote(here) + " -a " + child.name + " -d " + quote(child.summary) + "\n";
    std::string below = "__fish_seen_subcommand_from " + child.name;
    append_fish_lines(script, child, condition.empty() ? below : condition + "; and " + below);
  }
}

}  // namespace

std::string make_completion_script(const CompletionVerb& root, const std::string& shell) {
  if (shell == "bash") return bash_script(root);
  if (shell == "zsh") {
    return "# Completion of frazil for zsh: eval \"$(frazil completion zsh)\"\n"
           "autoload -U +X bashcompinit && bashcompinit\n" +
           bash_script(root);
  }
  if (shell == "fish") {
    std::string script = "# Completion of frazil for fish: frazil completion fish | source\n";
    append_fish_lines(script, root, "");
    return script;
  }
  throw_error(ErrorKind::kInvalidArgument, "there is no completion for '{}': bash, zsh or fish", shell);
}

}  // namespace frazil::cli
