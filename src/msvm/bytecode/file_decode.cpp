#include "msvm/bytecode/file_decode.h"

#include <algorithm>
#include <unordered_set>

#include "msvm/bytecode/dim_table.h"

namespace msvm {

using format::Section;

Status ModuleDecoder::decode_header() {
  ByteReader r(bytes_);
  auto magic = r.bytes(format::kMagic.size());
  if (!r.ok() || !std::equal(magic.begin(), magic.end(), std::as_bytes(std::span(format::kMagic)).begin()))
    return malformed("not a .msbc file: its first bytes are not the format's mark");
  uint16_t major = r.u16();
  minor_ = r.u16();
  uint32_t flags = r.u32();
  uint32_t sections = r.u32();
  r.u32();
  MSVM_RETURN_IF_ERROR(r.status());
  const std::string version = std::to_string(major) + "." + std::to_string(minor_);
  if (major > kFormatMajor)
    return unsupported("the file has format version " + version + ", this program reads versions up to " +
                       std::to_string(kFormatMajor) + ".x: use a newer MSVM, or write the file with an older one");
  if (major < kFormatMajor) return malformed("the file has format version " + version + ", which never existed");
  if (flags & ~format::kIgnorableFlags)
    return unsupported("the file needs a feature that this program doesn't know (flags " + std::to_string(flags) + ")");
  if (sections > format::kMaxSections)
    return malformed(std::to_string(sections) + " sections exceed the limit of " + std::to_string(format::kMaxSections));
  for (uint32_t i = 0; i < sections; ++i) {
    uint32_t kind = r.u32();
    uint32_t section_flags = r.u32();
    SectionSpan s{r.u64(), r.u64()};
    r.section(s.offset, s.size, "section " + std::to_string(kind));
    MSVM_RETURN_IF_ERROR(r.status());
    if (kind == 0 || kind > format::kLastSection) {
      if (section_flags & format::kSectionOptional) continue;
      return unsupported("the file has a section of kind " + std::to_string(kind) +
                         " that this program doesn't know (format version " + version + ")");
    }
    if (sections_[kind]) return malformed("section " + std::to_string(kind) + " occurs twice");
    sections_[kind] = s;
  }
  return {};
}

Status ModuleDecoder::decode_section(Section kind, const char* name, Decode method, bool required) {
  const auto& s = sections_[static_cast<size_t>(kind)];
  if (!s) return required ? malformed(std::string("the file has no section ") + name) : Status();
  auto mapped = bytes_.subspan(s->offset, s->size);
  std::vector<std::byte> copy(mapped.begin(), mapped.end());
  ByteReader r(copy);
  (this->*method)(r);
  if (minor_ <= kFormatMinor) r.expect_end();
  return r.status().with_context(std::string("section ") + name + ": ");
}

Result<Module> ModuleDecoder::decode() {
  MSVM_RETURN_IF_ERROR(decode_header());
  MSVM_RETURN_IF_ERROR(decode_section(Section::kStrings, "strings", &ModuleDecoder::decode_strings));
  MSVM_RETURN_IF_ERROR(decode_section(Section::kMeta, "meta", &ModuleDecoder::decode_meta));
  MSVM_RETURN_IF_ERROR(decode_section(Section::kSymbols, "symbols", &ModuleDecoder::decode_symbols));
  MSVM_RETURN_IF_ERROR(decode_section(Section::kDims, "dims", &ModuleDecoder::decode_dims));
  MSVM_RETURN_IF_ERROR(decode_section(Section::kTypes, "types", &ModuleDecoder::decode_types));
  MSVM_RETURN_IF_ERROR(decode_section(Section::kFunctions, "functions", &ModuleDecoder::decode_functions));
  MSVM_RETURN_IF_ERROR(check_register_symbols());
  MSVM_RETURN_IF_ERROR(decode_section(Section::kCode, "code", &ModuleDecoder::decode_code));
  MSVM_RETURN_IF_ERROR(decode_section(Section::kConstants, "constants", &ModuleDecoder::decode_constants));
  MSVM_RETURN_IF_ERROR(decode_section(Section::kDebug, "debug", &ModuleDecoder::decode_debug, false));
  return std::move(module_);
}

const std::string& ModuleDecoder::string(ByteReader& r) {
  static const std::string kEmpty;
  size_t i = r.index(strings_.size(), "string");
  return r.ok() ? strings_[i] : kEmpty;
}

Dim ModuleDecoder::part(ByteReader& r, int32_t& owner) {
  size_t i = r.index(dims_.size(), "size");
  if (!r.ok()) return {};
  owner = join_owners(owner, dim_owners_[i]);
  return dims_[i];
}

Dim ModuleDecoder::dim(ByteReader& r) {
  int32_t owner = DimTable::kNoOwner;
  Dim d = part(r, owner);
  if (r.ok() && owner != DimTable::kNoOwner && owner != function_) r.fail("a size mentions a register of another function");
  return d;
}

const RegType& ModuleDecoder::type(ByteReader& r) {
  static const RegType kNone;
  size_t i = r.index(types_.size(), "type");
  if (!r.ok()) return kNone;
  if (type_owners_[i] != DimTable::kNoOwner && type_owners_[i] != function_)
    r.fail("a type mentions a register of another function");
  return types_[i];
}

DType ModuleDecoder::dtype(ByteReader& r) {
  uint8_t v = r.u8();
  if (v >= kNumDTypes) r.fail("unknown dtype " + std::to_string(v));
  return r.ok() ? static_cast<DType>(v) : DType::kF32;
}

void ModuleDecoder::decode_strings(ByteReader& r) {
  size_t n = r.count(UINT32_MAX, "strings");
  strings_.reserve(n);
  for (size_t i = 0; i < n && r.ok(); ++i) strings_.emplace_back(r.string(FileLimits::kNameBytes));
}

void ModuleDecoder::decode_meta(ByteReader& r) {
  module_.name = string(r);
  module_.producer = string(r);
  int64_t level = r.svarint();
  if (level < INT32_MIN || level > INT32_MAX) r.fail("optimisation level is out of range");
  module_.opt_level = static_cast<int32_t>(level);
  size_t n = r.count(FileLimits::kOperands, "operator sets", 2);
  for (size_t i = 0; i < n && r.ok(); ++i) {
    OpsetVersion o;
    o.domain = string(r);
    o.version = r.svarint();
    module_.opsets.push_back(std::move(o));
  }
  n = r.count(FileLimits::kOperands, "metadata entries", 2);
  for (size_t i = 0; i < n && r.ok(); ++i) {
    const std::string& key = string(r);
    if (!module_.metadata.empty() && key <= module_.metadata.rbegin()->first) r.fail("metadata keys are not in ascending order");
    auto value = r.string(FileLimits::kTextBytes);
    if (r.ok()) module_.metadata.emplace(key, value);
  }
}

SymbolInfo ModuleDecoder::symbol_info(ByteReader& r) {
  SymbolInfo s;
  uint8_t flags = r.u8();
  if (flags & ~15) r.fail("unknown symbol flags");
  if (flags & format::kSymbolRegister) {
    s.function = static_cast<int32_t>(r.index(FileLimits::kFunctions, "function"));
    s.reg = static_cast<int32_t>(r.index(FileLimits::kRegisters, "register"));
    s.name = "R" + std::to_string(s.reg);
    s.min = INT64_MIN;
  } else {
    s.name = string(r);
  }
  if (flags & format::kSymbolMin) s.min = r.svarint();
  if (flags & format::kSymbolMax) s.max = r.svarint();
  if (flags & format::kSymbolDivisor) s.divisor = r.svarint(), s.remainder = r.svarint();
  if (r.ok() && (s.divisor < 1 || s.remainder < 0 || s.remainder >= s.divisor || s.min > s.max))
    r.fail("symbol " + s.name + " admits no value");
  return s;
}

void ModuleDecoder::decode_symbols(ByteReader& r) {
  size_t n = r.count(FileLimits::kSymbols, "symbols", 2);
  std::unordered_set<std::string> names;
  std::unordered_set<uint64_t> registers;
  for (size_t i = 0; i < n && r.ok(); ++i) {
    SymbolInfo s = symbol_info(r);
    bool fresh = s.is_register() ? registers.insert(static_cast<uint64_t>(s.function) << 32 | static_cast<uint32_t>(s.reg)).second
                                 : names.insert(s.name).second;
    if (!s.is_register() && is_reserved_symbol_name(s.name)) r.fail("the name " + s.name + " is reserved");
    if (!fresh) r.fail("symbol " + s.name + " occurs twice");
    if (r.ok()) module_.dims->add_symbol(std::move(s));
  }
}

Status ModuleDecoder::check_register_symbols() const {
  const DimContext& dims = *module_.dims;
  for (SymbolId id = 0; id < dims.num_symbols(); ++id) {
    const SymbolInfo& s = dims.symbol_info(id);
    if (!s.is_register()) continue;
    if (static_cast<size_t>(s.function) >= module_.functions.size() ||
        static_cast<size_t>(s.reg) >= module_.functions[static_cast<size_t>(s.function)].regs.size())
      return malformed("section symbols: symbol " + std::to_string(id) + " belongs to a register that doesn't exist");
  }
  return {};
}

Dim ModuleDecoder::sum(ByteReader& r, int32_t& owner) {
  DimContext& c = *module_.dims;
  Dim out = c.constant(r.svarint());
  size_t terms = r.count(kMaxDimTerms, "terms", 3);
  for (size_t t = 0; t < terms && r.ok(); ++t) {
    Dim product = c.constant(r.svarint());
    size_t factors = r.count(kMaxDimDegree, "factors");
    for (size_t f = 0; f < factors && r.ok(); ++f) {
      Dim factor = part(r, owner);
      // Products of sums would cost more than they take in the file.
      if (r.ok() && (factor.is_const() || factor.node()->op == DimOp::kSum)) r.fail("a factor of a sum is a constant or a sum");
      product = c.mul(product, factor);
    }
    out = c.add(out, product);
  }
  return out;
}

void ModuleDecoder::decode_dims(ByteReader& r) {
  DimContext& c = *module_.dims;
  size_t n = r.count(UINT32_MAX, "sizes", 2);
  dims_.reserve(n);
  for (size_t i = 0; i < n && r.ok(); ++i) {
    uint8_t tag = r.u8();
    if (tag > format::kLastDimTag) {
      r.fail("unknown kind of size " + std::to_string(tag));
      return;
    }
    int32_t owner = DimTable::kNoOwner;
    auto pair = [&](DimOp op) {
      Dim a = part(r, owner), b = part(r, owner);
      return r.ok() ? c.apply(op, a, b) : Dim();
    };
    Dim d;
    switch (static_cast<format::DimTag>(tag)) {
      case format::DimTag::kConst:
        d = c.constant(r.svarint());
        break;
      case format::DimTag::kSymbol: {
        size_t s = r.index(c.num_symbols(), "symbol");
        if (r.ok()) d = c.symbol(static_cast<SymbolId>(s)), owner = c.symbol_info(static_cast<SymbolId>(s)).function;
        break;
      }
      case format::DimTag::kSum:
        d = sum(r, owner);
        break;
      case format::DimTag::kFloorDiv:
        d = pair(DimOp::kFloorDiv);
        break;
      case format::DimTag::kCeilDiv:
        d = pair(DimOp::kCeilDiv);
        break;
      case format::DimTag::kMod:
        d = pair(DimOp::kMod);
        break;
      case format::DimTag::kMin:
        d = pair(DimOp::kMin);
        break;
      case format::DimTag::kMax:
        d = pair(DimOp::kMax);
        break;
      case format::DimTag::kBroadcast:
        d = pair(DimOp::kBroadcast);
        break;
    }
    if (!d.valid()) r.fail("size " + std::to_string(i) + " overflows or is beyond the limits of an expression");
    dims_.push_back(d);
    dim_owners_.push_back(owner);
  }
}

void ModuleDecoder::decode_types(ByteReader& r) {
  size_t n = r.count(UINT32_MAX, "types");
  for (size_t i = 0; i < n && r.ok(); ++i) {
    RegType t;
    int32_t owner = DimTable::kNoOwner;
    uint8_t kind = r.u8();
    if (kind > static_cast<uint8_t>(RegKind::kBool)) r.fail("unknown kind of register " + std::to_string(kind));
    if (!r.ok()) return;
    t.kind = static_cast<RegKind>(kind);
    if (t.kind == RegKind::kList) t.tensor.dtype = dtype(r);
    if (t.kind == RegKind::kTensor) {
      TensorType& x = t.tensor;
      x.dtype = dtype(r);
      uint8_t flags = r.u8(), layout = r.u8(), device = r.u8();
      x.device.index = r.u8();
      if (flags & ~7) r.fail("unknown type flags");
      if (layout > static_cast<uint8_t>(Layout::kNhwc)) r.fail("unknown layout " + std::to_string(layout));
      if (device > static_cast<uint8_t>(DeviceKind::kSim)) r.fail("unknown device " + std::to_string(device));
      x.unknown_rank = flags & format::kTypeUnknownRank;
      x.strided = flags & format::kTypeStrided;
      x.layout = static_cast<Layout>(layout);
      x.device.kind = static_cast<DeviceKind>(device);
      size_t rank = x.unknown_rank ? 0 : r.count(kMaxRank, "dimensions of a tensor");
      for (size_t a = 0; a < rank && r.ok(); ++a) x.shape.push_back(part(r, owner));
      if (flags & format::kTypeFilled) {
        FilledExtent e;
        e.axis = static_cast<int>(r.index(kMaxRank, "axis"));
        e.from = part(r, owner);
        e.to = part(r, owner);
        x.filled = e;
      }
    }
    types_.push_back(std::move(t));
    type_owners_.push_back(owner);
  }
}

std::vector<Param> ModuleDecoder::params(ByteReader& r) {
  std::vector<Param> out;
  size_t n = r.count(FileLimits::kOperands, "inputs or outputs", 3);
  for (size_t i = 0; i < n && r.ok(); ++i) {
    Param p;
    p.name = string(r);
    p.type = type(r);
    uint8_t flags = r.u8();
    if (flags & ~format::kParamDonated) r.fail("unknown flags of an input");
    p.donated = flags & format::kParamDonated;
    out.push_back(std::move(p));
  }
  return out;
}

void ModuleDecoder::decode_functions(ByteReader& r) {
  size_t n = r.count(FileLimits::kFunctions, "functions", 6);
  size_t registers = 0, blocks = 0, instructions = 0;
  for (size_t k = 0; k < n && r.ok(); ++k) {
    Function f;
    function_ = static_cast<int32_t>(k);
    f.name = string(r);
    f.inputs = params(r);
    f.outputs = params(r);
    size_t regs = r.count(FileLimits::kRegisters - registers, "registers");
    registers += regs;
    f.regs.resize(regs);
    for (size_t i = 0; i < regs && r.ok(); ++i) f.regs[i].type = type(r);
    size_t count = r.count(FileLimits::kBlocks - blocks, "blocks");
    blocks += count;
    std::vector<size_t> sizes;
    for (size_t i = 0; i < count && r.ok(); ++i) {
      sizes.push_back(r.index(FileLimits::kInstructions - instructions + 1, "number of instructions"));
      instructions += sizes.back();
    }
    f.blocks.resize(r.ok() ? count : 0);
    instructions_.push_back(std::move(sizes));
    code_sizes_.push_back(static_cast<size_t>(r.varint()));
    module_.functions.push_back(std::move(f));
  }
  function_ = DimTable::kNoOwner;
}

void ModuleDecoder::debug_of(ByteReader& r, Function& f) {
  size_t names = r.count(f.regs.size(), "register names", 2);
  for (size_t i = 0; i < names && r.ok(); ++i) {
    size_t reg = r.index(f.regs.size(), "register");
    const std::string& name = string(r);
    if (r.ok()) f.regs[reg].name = name;
  }
  size_t entries = r.count(FileLimits::kInstructions, "entries", 4);
  for (size_t i = 0; i < entries && r.ok(); ++i) {
    DebugInfo d;
    d.file = string(r);
    d.line = static_cast<int32_t>(r.index(uint64_t{1} << 31, "line"));
    d.column = static_cast<int32_t>(r.index(uint64_t{1} << 31, "column"));
    size_t origins = r.count(FileLimits::kOperands, "origins");
    for (size_t o = 0; o < origins && r.ok(); ++o) d.origins.push_back(string(r));
    f.debug.push_back(std::move(d));
  }
  size_t block = 0, instr = 0;
  auto next = [&]() -> Instr* {
    while (block < f.blocks.size() && instr == f.blocks[block].instrs.size()) ++block, instr = 0;
    return block < f.blocks.size() ? &f.blocks[block].instrs[instr++] : nullptr;
  };
  size_t runs = r.count(FileLimits::kInstructions, "runs", 2);
  for (size_t i = 0; i < runs && r.ok(); ++i) {
    size_t entry = r.index(f.debug.size(), "entry");
    uint64_t count = r.varint();
    for (uint64_t c = 0; c < count && r.ok(); ++c) {
      if (Instr* at = next())
        at->debug = static_cast<uint32_t>(entry);
      else
        r.fail("more entries than instructions");
    }
  }
}

void ModuleDecoder::decode_debug(ByteReader& r) {
  for (Function& f : module_.functions) debug_of(r, f);
}

}  // namespace msvm
