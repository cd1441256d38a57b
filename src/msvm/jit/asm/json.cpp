#include <fmt/format.h>

#include <iterator>

#include "msvm/base/json_text.h"
#include "msvm/jit/asm/disassembly.h"

namespace msvm::jit {
namespace {

class Json {
 public:
  std::string take() { return std::move(out_); }

  void value(std::string_view text) { append_json_string(out_, text); }
  void value(const std::string& text) { append_json_string(out_, text); }
  void value(bool b) { out_ += b ? "true" : "false"; }
  void value(int64_t n) { fmt::format_to(std::back_inserter(out_), "{}", n); }
  void value(int32_t n) { value(int64_t{n}); }
  void value(uint32_t n) { value(int64_t{n}); }
  /// An index; null if there is none.
  void index(int32_t n) {
    if (n < 0) out_ += "null";
    else value(n);
  }
  template <class T, class Each> void array(const std::vector<T>& items, const Each& each) {
    out_ += '[';
    for (const T& item : items) {
      if (&item != items.data()) out_ += ',';
      each(item);
    }
    out_ += ']';
  }
  template <class T> void value(const std::vector<T>& items) {
    array(items, [&](const T& item) { value(item); });
  }
  void key(std::string_view name) {
    if (out_.empty() || out_.back() != '{') out_ += ',';
    append_json_string(out_, name);
    out_ += ':';
  }
  template <class T> void member(std::string_view name, const T& v) {
    key(name);
    value(v);
  }
  void open() { out_ += '{'; }
  void close() { out_ += '}'; }

 private:
  std::string out_;
};

void write(Json& j, const KernelCode& k) {
  const std::vector<int32_t> no_instructions;
  const std::vector<std::string> no_places;
  j.open();
  j.member("name", k.name);
  j.member("size", k.size);
  j.key("ir");
  j.array(k.ir, [&](const IrLine& line) {
    j.open();
    j.member("text", line.text);
    j.member("instructions", line.instructions);
    j.member("places", line.places);
    j.close();
  });
  j.key("lines");
  j.array(k.lines, [&](const CodeLine& line) {
    const IrLine* ir = line.ir < 0 ? nullptr : &k.ir[static_cast<size_t>(line.ir)];
    j.open();
    j.member("address", fmt::format("{:#x}", line.address));
    j.member("text", line.text);
    j.key("ir");
    j.index(line.ir);
    j.member("instructions", ir ? ir->instructions : no_instructions);
    j.member("places", ir ? ir->places : no_places);
    j.key("finding");
    j.index(line.finding);
    j.close();
  });
  j.close();
}

void write(Json& j, const Finding& f) {
  j.open();
  j.member("kind", kFindingNames[static_cast<size_t>(f.kind)]);
  j.key("kernel");
  j.index(f.kernel);
  j.key("line");
  j.index(f.line);
  j.member("text", f.text);
  j.member("mend", f.mend);
  j.close();
}

void write(Json& j, const RegionCall& c) {
  j.open();
  j.member("instruction", c.instruction);
  j.member("operator", c.op);
  j.member("place", c.place);
  j.member("kernel", c.kernel);
  j.close();
}

}  // namespace

std::string to_json(const Disassembly& d) {
  Json j;
  j.open();
  j.member("entry", d.entry);
  j.member("alias", d.alias);
  j.member("box", d.box);
  j.member("region", d.region);
  j.member("tier", d.tier);
  j.member("shared", d.shared);
  j.member("isa", d.isa);
  j.key("kernels");
  j.array(d.kernels, [&](const KernelCode& k) { write(j, k); });
  j.key("findings");
  j.array(d.findings, [&](const Finding& f) { write(j, f); });
  j.key("calls");
  j.array(d.calls, [&](const RegionCall& c) { write(j, c); });
  j.close();
  return j.take();
}

}  // namespace msvm::jit
