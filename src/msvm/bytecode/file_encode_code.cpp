// Instructions as bytes: for each the opcode, then the fields that its row of the table has.
#include <cmath>

#include "msvm/bytecode/file.h"
#include "msvm/bytecode/file_encode.h"

namespace msvm {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// All NaNs are one: text has no more.
void put_float(ByteWriter& w, double v) {
  if (std::isnan(v))
    w.u64(0x7ff8000000000000);
  else
    w.f64(v);
}

}  // namespace

void ModuleEncoder::put_operand_count(ByteWriter& w, size_t n, const Range& range, const Instr& i, const char* what) {
  if (n < static_cast<size_t>(range.min) || n > static_cast<size_t>(range.max))
    fail(std::string(instr_info(i.op).mnemonic) + " has " + std::to_string(n) + " " + what);
  if (range.min != range.max) put_count(w, n, FileLimits::kOperands, what);
}

void ModuleEncoder::put_attributes(ByteWriter& w, const Attributes& attrs) {
  using format::AttrTag;
  auto tag = [&](AttrTag t) { w.u8(static_cast<uint8_t>(t)); };
  put_count(w, attrs.size(), FileLimits::kOperands, "attributes");
  for (const Attr& a : attrs) {
    put_string(w, a.name);
    std::visit(Overloaded{
                   [&](int64_t v) { tag(AttrTag::kInt), w.svarint(v); },
                   [&](double v) { tag(AttrTag::kFloat), put_float(w, v); },
                   [&](const std::string& v) { tag(AttrTag::kString), w.string(v); },
                   [&](DType v) { tag(AttrTag::kDType), w.u8(static_cast<uint8_t>(v)); },
                   [&](const std::vector<int64_t>& v) {
                     tag(AttrTag::kInts), w.varint(v.size());
                     for (int64_t x : v) w.svarint(x);
                   },
                   [&](const std::vector<double>& v) {
                     tag(AttrTag::kFloats), w.varint(v.size());
                     for (double x : v) put_float(w, x);
                   },
                   [&](const std::vector<std::string>& v) {
                     tag(AttrTag::kStrings), w.varint(v.size());
                     for (const std::string& x : v) w.string(x);
                   },
               },
               a.value);
  }
}

void ModuleEncoder::put_instr(ByteWriter& w, const Function& f, const Instr& i) {
  const InstrInfo* info = instr_info_from_byte(static_cast<uint8_t>(i.op));
  if (!info) {
    fail("unknown opcode " + std::to_string(static_cast<int>(i.op)));
    return;
  }
  auto put_registers = [&](const std::vector<Reg>& registers, const Range& range, const char* what, bool optional) {
    put_operand_count(w, registers.size(), range, i, what);
    for (Reg r : registers) {
      if (r < (optional ? kNoReg : 0) || r >= static_cast<int64_t>(f.regs.size()))
        fail("register R" + std::to_string(r) + " doesn't exist");
      w.varint(static_cast<uint64_t>(static_cast<int64_t>(r) + 1));
    }
  };
  w.u8(static_cast<uint8_t>(i.op));
  if (i.sub >= sub_count(info->subs)) fail(std::string(info->mnemonic) + " has an unknown second opcode");
  if (info->subs != SubTable::kNoSubs) w.u8(i.sub);
  put_registers(i.defs, info->defs, "results", false);
  put_registers(i.uses, info->uses, "registers", i.op == Opcode::kOpCall);
  put_operand_count(w, i.dims.size(), info->dims, i, "sizes");
  for (Dim d : i.dims) put_dim(w, d);
  put_operand_count(w, i.imms.size(), info->imms, i, "immediates");
  for (int64_t v : i.imms) w.svarint(v);
  put_registers(i.outs, info->outs, "destinations", i.op == Opcode::kOpCall);
  put_operand_count(w, i.targets.size(), info->targets, i, "blocks");
  for (BlockId b : i.targets) {
    if (b < 0 || static_cast<size_t>(b) >= f.blocks.size()) fail("block b" + std::to_string(b) + " doesn't exist");
    w.varint(static_cast<uint32_t>(b));
  }
  if (info->text != TextKind::kNone)
    put_string(w, i.text);
  else if (!i.text.empty())
    fail(std::string(info->mnemonic) + " has a text");
  if (info->attrs)
    put_attributes(w, i.attrs);
  else if (i.attrs.size() > 0)
    fail(std::string(info->mnemonic) + " has attributes");
  if (info->names) {
    if (!i.axis_names.empty() && i.axis_names.size() != i.dims.size())
      fail(std::string(info->mnemonic) + " has not one axis name per size");
    put_count(w, i.axis_names.size(), FileLimits::kOperands, "axis names");
    for (const std::string& n : i.axis_names) put_string(w, n);
  } else if (!i.axis_names.empty()) {
    fail(std::string(info->mnemonic) + " has axis names");
  }
}

void ModuleEncoder::encode_code() {
  for (const Function& f : module_.functions) {
    size_t start = code_.size();
    function_ = static_cast<int32_t>(&f - module_.functions.data());
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs) {
        offsets_.push_back(static_cast<uint32_t>(code_.size()));
        size_t before = problem_.size();
        put_instr(code_, f, i);
        if (before == 0 && !problem_.empty())
          problem_ += " (instruction at offset " + std::to_string(offsets_.back()) + " of @" + f.name + ")";
      }
    code_sizes_.push_back(code_.size() - start);
  }
  function_ = DimTable::kNoOwner;
  if (code_.size() > UINT32_MAX) fail("the code has more than 4 GiB");
}

}  // namespace msvm
