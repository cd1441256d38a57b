#include "msvm/bytecode/file_encode.h"

#include <algorithm>

#include "msvm/bytecode/constant_data.h"
#include "msvm/bytecode/file.h"

namespace msvm {

using format::Section;

ModuleEncoder::ModuleEncoder(const Module& module) : module_(module), dims_(module) {
  if (!dims_.problem().empty()) fail(dims_.problem());
}

void ModuleEncoder::fail(const std::string& why) {
  if (problem_.empty()) problem_ = why;
}

uint64_t ModuleEncoder::string_index(std::string_view s) {
  auto [it, fresh] = string_index_.try_emplace(s, strings_.size());
  if (fresh) {
    strings_.push_back(s);
    if (s.size() > FileLimits::kNameBytes) fail("a name has " + std::to_string(s.size()) + " bytes");
  }
  return it->second;
}

void ModuleEncoder::put_dim(ByteWriter& w, Dim d) {
  Dim c = dims_.canonical(d);
  if (!c.valid()) {
    fail("a size has overflowed or is beyond the limits of an expression");
    w.varint(0);
    return;
  }
  check_owner(c);
  w.varint(dims_.index(c));
}

void ModuleEncoder::check_owner(Dim c) {
  int32_t owner = dims_.owner(c);
  if (owner != DimTable::kNoOwner && owner != function_) fail("a size mentions a register of another function");
}

void ModuleEncoder::put_count(ByteWriter& w, size_t n, size_t limit, const char* what) {
  if (n > limit) fail(std::to_string(n) + " " + what + " exceed the limit of " + std::to_string(limit));
  w.varint(n);
}

uint64_t ModuleEncoder::type_index(const RegType& t) {
  ByteWriter w;
  put_type(w, t);
  std::string key(reinterpret_cast<const char*>(w.data().data()), w.size());
  auto [it, fresh] = type_index_.try_emplace(std::move(key), type_index_.size());
  if (fresh) types_.bytes(w.data());
  return it->second;
}

void ModuleEncoder::put_type(ByteWriter& w, const RegType& t) {
  w.u8(static_cast<uint8_t>(t.kind));
  if (t.kind == RegKind::kList) w.u8(static_cast<uint8_t>(t.tensor.dtype));
  if (t.kind != RegKind::kTensor) return;
  const TensorType& x = t.tensor;
  w.u8(static_cast<uint8_t>(x.dtype));
  w.u8(static_cast<uint8_t>((x.unknown_rank ? format::kTypeUnknownRank : 0) | (x.strided ? format::kTypeStrided : 0) |
                            (x.filled ? format::kTypeFilled : 0)));
  w.u8(static_cast<uint8_t>(x.layout));
  w.u8(static_cast<uint8_t>(x.device.kind));
  w.u8(x.device.index);
  if (!x.unknown_rank) {
    put_count(w, x.shape.size(), kMaxRank, "dimensions of a tensor");
    for (Dim d : x.shape) put_dim(w, d);
  }
  if (x.filled) {
    if (x.filled->axis < 0 || x.filled->axis >= kMaxRank) fail("the axis of a filled extent is out of range");
    w.varint(static_cast<uint64_t>(x.filled->axis));
    put_dim(w, x.filled->from);
    put_dim(w, x.filled->to);
  }
}

void ModuleEncoder::put_params(ByteWriter& w, const std::vector<Param>& params) {
  put_count(w, params.size(), FileLimits::kOperands, "inputs or outputs");
  for (const Param& p : params) {
    put_string(w, p.name);
    w.varint(type_index(p.type));
    w.u8(p.donated ? format::kParamDonated : 0);
  }
}

void ModuleEncoder::encode_meta() {
  ByteWriter w;
  put_string(w, module_.name);
  put_string(w, module_.producer);
  w.svarint(module_.opt_level);
  w.varint(module_.opsets.size());
  for (const OpsetVersion& o : module_.opsets) {
    put_string(w, o.domain);
    w.svarint(o.version);
  }
  w.varint(module_.metadata.size());
  for (const auto& [key, value] : module_.metadata) {
    put_string(w, key);
    w.string(value);
  }
  sections_.emplace_back(Section::kMeta, w.take());
}

void ModuleEncoder::encode_symbols() {
  ByteWriter w;
  const DimContext& context = dims_.context();
  put_count(w, context.num_symbols(), FileLimits::kSymbols, "symbols");
  for (SymbolId id = 0; id < context.num_symbols(); ++id) {
    const SymbolInfo& s = context.symbol_info(id);
    int64_t default_min = s.is_register() ? INT64_MIN : 0;
    bool divisor = s.divisor != 1 || s.remainder != 0;
    if (s.divisor < 1 || s.remainder < 0 || s.remainder >= s.divisor || s.min > s.max)
      fail("symbol " + s.name + " admits no value");
    w.u8(static_cast<uint8_t>((s.is_register() ? format::kSymbolRegister : 0) | (s.min != default_min ? format::kSymbolMin : 0) |
                              (s.max != INT64_MAX ? format::kSymbolMax : 0) | (divisor ? format::kSymbolDivisor : 0)));
    if (s.is_register()) {
      w.varint(static_cast<uint64_t>(s.function));
      w.varint(static_cast<uint64_t>(s.reg));
      if (static_cast<size_t>(s.function) >= module_.functions.size() || s.reg < 0 ||
          static_cast<size_t>(s.reg) >= module_.functions[static_cast<size_t>(s.function)].regs.size())
        fail("symbol " + s.name + " belongs to a register that doesn't exist");
    } else {
      put_string(w, s.name);
    }
    if (s.min != default_min) w.svarint(s.min);
    if (s.max != INT64_MAX) w.svarint(s.max);
    if (divisor) w.svarint(s.divisor), w.svarint(s.remainder);
  }
  sections_.emplace_back(Section::kSymbols, w.take());
}

void ModuleEncoder::encode_dims() {
  ByteWriter w;
  w.varint(dims_.nodes().size());
  for (Dim d : dims_.nodes()) {
    if (d.is_const()) {
      w.u8(static_cast<uint8_t>(format::DimTag::kConst));
      w.svarint(d.value());
      continue;
    }
    const DimNode& n = *d.node();
    auto put_pair = [&](format::DimTag tag) {
      w.u8(static_cast<uint8_t>(tag));
      w.varint(dims_.index(n.a));
      w.varint(dims_.index(n.b));
    };
    switch (n.op) {
      case DimOp::kBigConst:
        break;  // is_const
      case DimOp::kSymbol:
        w.u8(static_cast<uint8_t>(format::DimTag::kSymbol));
        w.varint(n.symbol);
        break;
      case DimOp::kSum:
        w.u8(static_cast<uint8_t>(format::DimTag::kSum));
        w.svarint(n.constant);
        w.varint(n.terms.size());
        for (const DimTerm& t : n.terms) {
          w.svarint(t.coefficient);
          w.varint(t.factors.size());
          for (Dim f : t.factors) w.varint(dims_.index(f));
        }
        break;
      case DimOp::kFloorDiv:
        put_pair(format::DimTag::kFloorDiv);
        break;
      case DimOp::kCeilDiv:
        put_pair(format::DimTag::kCeilDiv);
        break;
      case DimOp::kMod:
        put_pair(format::DimTag::kMod);
        break;
      case DimOp::kMin:
        put_pair(format::DimTag::kMin);
        break;
      case DimOp::kMax:
        put_pair(format::DimTag::kMax);
        break;
      case DimOp::kBroadcast:
        put_pair(format::DimTag::kBroadcast);
        break;
    }
  }
  sections_.emplace_back(Section::kDims, w.take());
}

void ModuleEncoder::encode_constants(const std::vector<ConstantPlace>& places) {
  ByteWriter w;
  put_count(w, module_.constants.size(), FileLimits::kConstants, "constants");
  for (size_t k = 0; k < module_.constants.size(); ++k) {
    const Constant& c = module_.constants[k];
    put_string(w, c.name);
    w.varint(type_index({RegKind::kTensor, c.type}));
    auto size = constant_size(c.type);
    bool strings = c.type.dtype == DType::kString;
    if (!size || *size != (strings ? c.strings.size() : c.bytes) || (!strings && c.bytes > 0 && !c.data))
      fail("constant " + std::to_string(k) + " (" + c.name + ") hasn't the bytes of its type");
    w.u64(problem_.empty() ? constant_digest(c) : 0);
    if (strings) {
      w.u8(static_cast<uint8_t>(format::Storage::kStrings));
      w.varint(c.strings.size());
      for (const std::string& s : c.strings) w.string(s);
    } else if (places[k].external_file.empty()) {
      w.u8(static_cast<uint8_t>(format::Storage::kInline));
      w.varint(places[k].offset);
      w.varint(c.bytes);
    } else {
      w.u8(static_cast<uint8_t>(format::Storage::kExternal));
      put_string(w, places[k].external_file);
      w.varint(places[k].offset);
      w.varint(c.bytes);
    }
  }
  sections_.emplace_back(Section::kConstants, w.take());
}

void ModuleEncoder::encode_functions() {
  ByteWriter w;
  put_count(w, module_.functions.size(), FileLimits::kFunctions, "functions");
  size_t blocks = 0, registers = 0;
  for (size_t k = 0; k < module_.functions.size(); ++k) {
    const Function& f = module_.functions[k];
    function_ = static_cast<int32_t>(k);
    put_string(w, f.name);
    put_params(w, f.inputs);
    put_params(w, f.outputs);
    put_count(w, f.regs.size(), FileLimits::kRegisters, "registers");
    for (const Register& r : f.regs) w.varint(type_index(r.type));
    put_count(w, f.blocks.size(), FileLimits::kBlocks, "blocks");
    for (const Block& b : f.blocks) w.varint(b.instrs.size());
    w.varint(code_sizes_[k]);
    blocks += f.blocks.size();
    registers += f.regs.size();
  }
  function_ = DimTable::kNoOwner;
  if (offsets_.size() > FileLimits::kInstructions) fail("too many instructions");
  if (blocks > FileLimits::kBlocks) fail("too many blocks");
  if (registers > FileLimits::kRegisters) fail("too many registers");
  sections_.emplace_back(Section::kFunctions, w.take());
}

void ModuleEncoder::put_debug_info(ByteWriter& w, const DebugInfo& d) {
  put_string(w, d.file);
  w.varint(static_cast<uint64_t>(std::max(0, d.line)));
  w.varint(static_cast<uint64_t>(std::max(0, d.column)));
  put_count(w, d.origins.size(), FileLimits::kOperands, "origins");
  for (const std::string& o : d.origins) put_string(w, o);
}

// Only entries that instructions use, in order of first use; runs of instructions with the same one.
void ModuleEncoder::encode_debug() {
  ByteWriter w;
  bool any = false;
  for (const Function& f : module_.functions) {
    std::vector<size_t> named;
    for (size_t r = 0; r < f.regs.size(); ++r)
      if (!f.regs[r].name.empty()) named.push_back(r);
    w.varint(named.size());
    for (size_t r : named) {
      w.varint(r);
      put_string(w, f.regs[r].name);
    }

    std::unordered_map<uint32_t, uint64_t> entry_of;    // by index into f.debug
    std::unordered_map<std::string, uint64_t> entries;  // by encoding: the table may hold equal ones
    ByteWriter encoded;
    std::vector<std::pair<uint64_t, uint64_t>> runs;  // entry, instructions
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs) {
        uint64_t entry = 0;
        if (i.debug < f.debug.size() && !(f.debug[i.debug] == DebugInfo{})) {
          auto [it, fresh] = entry_of.try_emplace(i.debug, 0);
          if (fresh) {
            ByteWriter one;
            put_debug_info(one, f.debug[i.debug]);
            std::string key(reinterpret_cast<const char*>(one.data().data()), one.size());
            auto [at, novel] = entries.try_emplace(std::move(key), entries.size() + 1);
            if (novel) encoded.bytes(one.data());
            it->second = at->second;
          }
          entry = it->second;
        }
        if (runs.empty() || runs.back().first != entry) runs.emplace_back(entry, 0);
        ++runs.back().second;
      }
    w.varint(entries.size());
    w.bytes(encoded.data());
    w.varint(runs.size());
    for (auto [entry, count] : runs) {
      w.varint(entry);
      w.varint(count);
    }
    any |= !named.empty() || !entries.empty();
  }
  if (any) sections_.emplace_back(Section::kDebug, w.take());
}

void ModuleEncoder::encode_strings() {
  ByteWriter w;
  w.varint(strings_.size());
  for (std::string_view s : strings_) w.string(s);
  sections_.emplace_back(Section::kStrings, w.take());
}

void ModuleEncoder::encode_rest(const std::vector<ConstantPlace>& places) {
  sections_.emplace_back(Section::kCode, code_.take());
  encode_functions();
  encode_constants(places);
  encode_meta();
  encode_symbols();
  encode_dims();
  encode_debug();
  ByteWriter types;
  types.varint(type_index_.size());
  types.bytes(types_.data());
  sections_.emplace_back(Section::kTypes, types.take());
  encode_strings();
}

std::vector<std::pair<Section, std::vector<std::byte>>> ModuleEncoder::take_sections() {
  std::sort(sections_.begin(), sections_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return std::move(sections_);
}

}  // namespace msvm
