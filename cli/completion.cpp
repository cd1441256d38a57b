// Completion in bash, zsh and fish: the shells ask this program, so what they offer is what it takes.
#include "completion.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common.h"
#include "observe/dap/server_file.h"

namespace msvm::cli {
namespace {

using std::string, std::vector;

// The hidden command that the shells call; the words come behind it.
constexpr const char* kAsk = "__complete";

constexpr const char* kBash = R"sh(# msvm in bash: eval "$(msvm completion bash)"
_msvm() {
  local line word=${COMP_WORDS[COMP_CWORD]} files=
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ":files" ]; then files=yes; else COMPREPLY+=("${line%%$'\t'*}"); fi
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ -n "$files" ]; then
    compopt -o filenames
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
  fi
}
complete -F _msvm msvm
)sh";

constexpr const char* kZsh = R"sh(#compdef msvm
# msvm in zsh: eval "$(msvm completion zsh)", or this text as _msvm in a folder of $fpath
_msvm() {
  local line files=
  local -a offers
  while IFS= read -r line; do
    if [[ $line == :files ]]; then files=yes; else offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); fi
  done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${#offers} )) && _describe -V msvm offers
  [[ -n $files ]] && _files
}
if [[ ${funcstack[1]} == _msvm ]]; then _msvm; else compdef _msvm msvm; fi
)sh";

constexpr const char* kFish = R"sh(# msvm in fish: msvm completion fish | source
function __msvm_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c msvm -f -a '(__msvm_complete)'
)sh";

struct Shell {
  const char *name, *script;
};
constexpr Shell kShells[] = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

bool shown(const CLI::App& command) { return !command.get_group().empty(); }

string first_sentence(const string& text) { return text.substr(0, text.find_first_of(".;\n")); }

/// "{a,b}" of an option that takes one of a set.
vector<string> members(const CLI::Option& o) {
  const string type = o.get_type_name();
  const size_t open = type.find('{'), close = type.find('}', open);
  if (open == string::npos || close == string::npos) return {};
  vector<string> out;
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(type.find(',', at), close);
    out.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// What a process was started as, in one line: names without their folders.
string command_line(int pid) {
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  string text{std::istreambuf_iterator<char>(in), {}};
  string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    string word = text.substr(at, end - at);
    if (word.starts_with('/')) word.erase(0, word.rfind('/') + 1);
    out += (out.empty() ? "" : " ") + word;
    at = end + 1;
  }
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return out.substr(0, 80);
}

class Completer {
 public:
  explicit Completer(string word) : word_(std::move(word)) {}

  void offer(const string& text, const string& description, bool whole = false) {
    if (text.starts_with(word_)) out_.candidates.push_back({text, whole ? description : first_sentence(description)});
  }

  void value_of(const CLI::Option& o) {
    if (o.get_type_name() == kAttachable) {
      for (const int pid : observe::dap::running_servers()) offer(fmt::format("{}", pid), command_line(pid), true);
      return;
    }
    const vector<string> known = members(o);
    for (const string& m : known) offer(m, "");
    if (known.empty()) out_.files = true;
  }

  void names_of(const CLI::App& command) {
    for (const CLI::Option* o : command.get_options([](const CLI::Option* x) { return !x->get_positional() && !x->get_group().empty(); })) {
      for (const string& name : o->get_lnames()) offer("--" + name, o->get_description());
      if (word_.size() != 1 && !word_.empty()) continue;  // "-x" is short enough to type
      for (const string& name : o->get_snames()) offer("-" + name, o->get_description());
    }
  }

  Completions out_;

 private:
  const string word_;
};

const CLI::Option* option_of(const CLI::App& command, const string& word) {
  for (const CLI::Option* o : command.get_options([](const CLI::Option* x) { return !x->get_positional(); }))
    if (o->check_name(word)) return o;
  return nullptr;
}

const CLI::App* child(const CLI::App& command, const string& name) {
  const auto found = command.get_subcommands([&](const CLI::App* s) { return s->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

Status print_completions(const CLI::App& app, const vector<string>& words) {
  const Completions c = complete(app, words);
  for (const auto& [text, description] : c.candidates) fmt::print("{}\t{}\n", text, description);
  if (c.files) fmt::print(":files\n");
  return {};
}

}  // namespace

Completions complete(const CLI::App& app, std::span<const string> words) {
  const CLI::App* command = &app;
  const CLI::Option* open = nullptr;  // an option whose value comes next
  size_t positionals = 0;
  const string word = words.empty() ? "" : words.back();
  for (size_t k = 0; k + 1 < words.size(); ++k) {
    const string& w = words[k];
    if (open) {
      open = nullptr;
    } else if (w.starts_with("-") && w.size() > 1) {
      const CLI::Option* o = w.find('=') == string::npos ? option_of(*command, w) : nullptr;
      if (o && o->get_items_expected_max() > 0) open = o;
    } else if (const CLI::App* next = positionals == 0 ? child(*command, w) : nullptr) {
      command = next;
    } else {
      ++positionals;
    }
  }
  Completer c(word);
  if (open) {
    c.value_of(*open);
    return std::move(c.out_);
  }
  if (word.starts_with("-")) {
    c.names_of(*command);
    return std::move(c.out_);
  }
  if (positionals == 0)
    for (const CLI::App* sub : command->get_subcommands([](const CLI::App* s) { return shown(*s); })) c.offer(sub->get_name(), sub->get_description());
  const auto places = command->get_options([](const CLI::Option* o) { return o->get_positional(); });
  if (!places.empty()) c.value_of(*places[std::min(positionals, places.size() - 1)]);
  else if (word.empty()) c.names_of(*command);
  return std::move(c.out_);
}

void add_completion(CLI::App& app, int& exit_code) {
  auto* c = app.add_subcommand("completion", "Completion of commands, options and files for bash, zsh or fish");
  c->footer("Example: echo 'eval \"$(msvm completion bash)\"' >> ~/.bashrc");
  auto shell = std::make_shared<string>();
  vector<string> names;
  for (const Shell& s : kShells) names.emplace_back(s.name);
  c->add_option("shell", *shell, "which one")->required()->check(CLI::IsMember(names));
  c->callback([=, &exit_code] {
    for (const Shell& s : kShells)
      if (*shell == s.name) exit_code = report(write_text("-", s.script));
  });
  auto* ask = app.add_subcommand(kAsk)->group("");
  auto words = std::make_shared<vector<string>>();
  ask->add_option("words", *words)->allow_extra_args();
  ask->callback([=, &app, &exit_code] { exit_code = report(print_completions(app, *words)); });
}

}  // namespace msvm::cli
