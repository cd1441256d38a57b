#include <fmt/format.h>

#include <iterator>

#include "msvm/jit/asm/disassembly.h"

namespace msvm::jit {
namespace {

/// Names may hold anything; terminals obey control characters.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 32 && c != 127) out += c;
  return out;
}

/// Escape sequences of a terminal, or nothing.
struct Colours {
  const char *bold = "", *dim = "", *jump = "", *finding = "", *plain = "";
};
constexpr Colours kColours{"\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[33m", "\x1b[0m"};

template <class T> std::string list(const std::vector<T>& items) {
  std::string out;
  for (const T& item : items) fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", item);
  return out;
}

class Writer {
 public:
  Writer(const Disassembly& d, const Colours& c) : d_(d), c_(c) {}

  std::string write() {
    heading();
    findings();
    for (const RegionCall& call : d_.calls) {
      if (&call == d_.calls.data()) line("\n{}calls beside the kernels{}", c_.bold, c_.plain);
      line("  instruction {} {} ({}): {}", call.instruction, shown(call.op), shown(call.place), call.kernel.empty() ? "hasn't run yet" : shown(call.kernel));
    }
    for (size_t k = 0; k < d_.kernels.size(); ++k) kernel(k);
    return std::move(out_);
  }

 private:
  template <class... Args> void line(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void heading() {
    size_t bytes = 0;
    for (const KernelCode& k : d_.kernels) bytes += k.size;
    line("{}entry {}{}{}", c_.bold, shown(d_.entry), d_.alias.empty() ? "" : " = " + shown(d_.alias), c_.plain);
    line("of {}; tier {}{}{}", shown(d_.region), d_.tier, d_.box.empty() ? "" : "; sizes " + shown(d_.box), d_.shared ? "; its code is another entry's, too" : "");
    if (d_.kernels.empty()) line("no kernels: its calls run as they are, with sizes and memory settled before");
    else line("{} kernel{}, {} bytes of instructions, {}", d_.kernels.size(), d_.kernels.size() == 1 ? "" : "s", bytes, d_.isa);
  }

  void findings() {
    if (d_.findings.empty()) return line("\nno findings");
    line("\n{}findings{}", c_.bold, c_.plain);
    for (size_t n = 0; n < d_.findings.size(); ++n) {
      const Finding& f = d_.findings[n];
      const std::string where = f.kernel < 0 ? "" : fmt::format(", kernel {}", f.kernel);
      line("  {}[{}] {}{}{}: {}", c_.finding, n, kFindingNames[static_cast<size_t>(f.kind)], where, c_.plain, shown(f.text));
      line("      mend: {}", shown(f.mend));
    }
  }

  void kernel(size_t k) {
    const KernelCode& kernel = d_.kernels[k];
    line("\n{}kernel {} {}{}: {} bytes, {} instructions", c_.bold, k, shown(kernel.name), c_.plain, kernel.size, kernel.lines.size());
    int32_t above = -1;
    for (const CodeLine& l : kernel.lines) {
      if (l.ir >= 0 && l.ir != above) source(kernel.ir[static_cast<size_t>(l.ir)]);
      if (l.ir < 0 && above >= 0) line("  {}; of no line{}", c_.dim, c_.plain);
      above = l.ir;
      const bool jump = l.text.starts_with('j');
      const std::string mark = l.finding < 0 ? "" : fmt::format("  {}; [{}]{}", c_.finding, l.finding, c_.plain);
      line("  {}{:6x}{}  {}{}{}{}", c_.dim, l.address, c_.plain, jump ? c_.jump : "", l.text, jump ? c_.plain : "", mark);
    }
  }
  void source(const IrLine& ir) {
    const size_t begin = std::min(ir.text.find_first_not_of(' '), ir.text.size());
    const std::string text = shown(ir.text.substr(begin)), places = shown(list(ir.places));
    if (ir.instructions.empty()) line("  {}; {}{}", c_.dim, text, c_.plain);
    else line("  {}; {:<44} instr {}{}{}{}", c_.dim, text, list(ir.instructions), places.empty() ? "" : "; ", places, c_.plain);
  }

  const Disassembly& d_;
  const Colours& c_;
  std::string out_;
};

}  // namespace

std::string to_text(const Disassembly& d, bool colour) {
  static constexpr Colours kNone;
  return Writer(d, colour ? kColours : kNone).write();
}

}  // namespace msvm::jit
