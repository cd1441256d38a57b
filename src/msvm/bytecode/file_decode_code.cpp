// Instructions, by the table: the counterpart of file_encode_code.cpp.
#include "msvm/bytecode/file_decode.h"

namespace msvm {
namespace {

size_t operand_count(ByteReader& r, const Range& range, const char* what) {
  if (range.min == range.max) return static_cast<size_t>(range.min);
  size_t n = r.count(FileLimits::kOperands, what);
  if (r.ok() && (n < static_cast<size_t>(range.min) || n > static_cast<size_t>(range.max)))
    r.fail("an instruction has " + std::to_string(n) + " " + what);
  return r.ok() ? n : 0;
}

}  // namespace

AttrValue ModuleDecoder::attribute_value(ByteReader& r) {
  uint8_t tag = r.u8();
  if (tag > format::kLastAttrTag) {
    r.fail("unknown kind of attribute " + std::to_string(tag));
    return int64_t{0};
  }
  auto list = [&](auto&& read, size_t min_bytes) {
    size_t n = r.count(UINT32_MAX, "elements of an attribute", min_bytes);
    std::vector<decltype(read())> out;
    for (size_t i = 0; i < n && r.ok(); ++i) out.push_back(read());
    return out;
  };
  auto text = [&] { return std::string(r.string(FileLimits::kTextBytes)); };
  switch (static_cast<format::AttrTag>(tag)) {
    case format::AttrTag::kInt:
      return r.svarint();
    case format::AttrTag::kFloat:
      return r.f64();
    case format::AttrTag::kString:
      return text();
    case format::AttrTag::kDType:
      return dtype(r);
    case format::AttrTag::kInts:
      return list([&] { return r.svarint(); }, 1);
    case format::AttrTag::kFloats:
      return list([&] { return r.f64(); }, 8);
    case format::AttrTag::kStrings:
      return list(text, 1);
  }
  return int64_t{0};
}

Attributes ModuleDecoder::attributes(ByteReader& r) {
  Attributes out;
  size_t n = r.count(FileLimits::kOperands, "attributes", 3);
  const std::string* previous = nullptr;
  for (size_t i = 0; i < n && r.ok(); ++i) {
    const std::string& name = string(r);
    if (r.ok() && previous && name <= *previous) r.fail("attributes are not in ascending order");
    previous = &name;
    AttrValue value = attribute_value(r);
    if (r.ok()) out.set(name, std::move(value));
  }
  return out;
}

void ModuleDecoder::instruction(ByteReader& r, const Function& f, Instr& i) {
  i.offset = static_cast<uint32_t>(r.offset());
  uint8_t opcode = r.u8();
  const InstrInfo* info = instr_info_from_byte(opcode);
  if (!info) {
    r.fail("unknown opcode " + std::to_string(opcode));
    return;
  }
  i.op = info->op;
  if (info->subs != SubTable::kNoSubs) {
    i.sub = r.u8();
    if (r.ok() && i.sub >= sub_count(info->subs))
      r.fail(std::string(info->mnemonic) + " has the unknown second opcode " + std::to_string(i.sub));
  }
  auto registers = [&](const Range& range, const char* what, bool optional) {
    std::vector<Reg> out(operand_count(r, range, what));
    for (Reg& reg : out) {
      reg = static_cast<Reg>(static_cast<int64_t>(r.index(f.regs.size() + 1, "register")) - 1);
      if (r.ok() && reg == kNoReg && !optional) r.fail(std::string(info->mnemonic) + " lacks a register");
    }
    return out;
  };
  i.defs = registers(info->defs, "results", false);
  i.uses = registers(info->uses, "registers", i.op == Opcode::kOpCall);
  i.dims.resize(operand_count(r, info->dims, "sizes"));
  for (Dim& d : i.dims) d = dim(r);
  i.imms.resize(operand_count(r, info->imms, "immediates"));
  for (int64_t& v : i.imms) v = r.svarint();
  i.outs = registers(info->outs, "destinations", i.op == Opcode::kOpCall);
  i.targets.resize(operand_count(r, info->targets, "blocks"));
  for (BlockId& b : i.targets) b = static_cast<BlockId>(r.index(f.blocks.size(), "block"));
  if (info->text != TextKind::kNone) i.text = string(r);
  if (info->attrs) i.attrs = attributes(r);
  if (info->names) {
    size_t n = r.count(FileLimits::kOperands, "axis names");
    if (r.ok() && n != 0 && n != i.dims.size()) r.fail("an instruction has not one axis name per size");
    for (size_t k = 0; k < n && r.ok(); ++k) i.axis_names.push_back(string(r));
  }
}

void ModuleDecoder::decode_code(ByteReader& r) {
  if (r.remaining() > UINT32_MAX) r.fail("more than 4 GiB");
  for (size_t k = 0; k < module_.functions.size() && r.ok(); ++k) {
    Function& f = module_.functions[k];
    size_t start = r.offset();
    function_ = static_cast<int32_t>(k);
    for (size_t b = 0; b < f.blocks.size() && r.ok(); ++b) {
      size_t n = instructions_[k][b];
      if (n > r.remaining()) r.fail("truncated");  // before memory is asked for
      if (!r.ok()) return;
      f.blocks[b].instrs.resize(n);
      for (size_t i = 0; i < n && r.ok(); ++i) instruction(r, f, f.blocks[b].instrs[i]);
    }
    if (r.ok() && r.offset() - start != code_sizes_[k])
      r.fail("the code of @" + f.name + " hasn't the size that its function says");
  }
  function_ = -1;
}

}  // namespace msvm
