// What a region depends on: entry symbols, which sizes follow from which of them, and what crosses its borders.
#include <algorithm>

#include "msvm/jit/outer_axis.h"
#include "msvm/jit/regions.h"

namespace msvm::jit {
namespace {

/// A condition from outside is followed back to sizes over at most this many definitions; beyond, it counts as depending on everything.
constexpr size_t kMaxSteps = 1000;

class Describer {
 public:
  Describer(const FunctionView& v, std::vector<Region>& regions) : v_(v), regions_(regions), region_of_(v.instrs.size(), -1), seen_(v.f.regs.size(), -1), scalar_set_(v.f.regs.size(), 0) {
    for (size_t k = 0; k < regions.size(); ++k)
      for (const Segment& s : regions[k].segments)
        for (int32_t i = s.begin; i < s.end; ++i) region_of_[static_cast<size_t>(i)] = static_cast<int32_t>(k);
  }

  void describe() {
    for (size_t k = 0; k < regions_.size(); ++k) describe(static_cast<int32_t>(k));
    find_outputs();
  }

 private:
  int32_t home(Reg r) const {
    const int32_t d = v_.definition(r);
    return d < 0 ? -1 : region_of_[static_cast<size_t>(d)];
  }

  void describe(int32_t k) {
    number_ = k;
    region_ = &regions_[static_cast<size_t>(k)];
    sets_.clear();
    tensors_.clear();
    computed_with_ = 0;
    for (const Segment& s : region_->segments)  // inputs first, so that symbols come in the order of what callers see
      for (int32_t i = s.begin; i < s.end; ++i)
        for (Reg r : v_.at(i).uses)
          if (r != kNoReg && v_.is_tensor(r) && home(r) != k) tensor(r);
    for (const Segment& s : region_->segments)
      for (int32_t i = s.begin; i < s.end; ++i) read(v_.at(i), i);
    count_axes();
    find_free();
  }

  // --- symbols

  SymbolSet entry(SymbolId s) {
    auto& symbols = region_->symbols;
    symbols.push_back(s);
    return symbols.size() > kMaxEntrySymbols ? kFurtherSymbols : SymbolSet{1} << (symbols.size() - 1);
  }

  SymbolSet set_of_symbol(SymbolId s) {
    auto [at, is_new] = sets_.try_emplace(s, 0);
    if (is_new) at->second = entry(s);
    return at->second;
  }

  SymbolSet set_of(Dim d) {
    SymbolSet set = 0;
    DimContext::for_each_symbol(v_.value(d), [&](SymbolId s) {
      const Dim v = v_.register_of(s) == kNoReg ? Dim() : v_.facts.reg_value[static_cast<size_t>(v_.register_of(s))];
      if (!v.valid() || v_.opaque(v_.register_of(s))) set |= set_of_symbol(s);
      else DimContext::for_each_symbol(v, [&](SymbolId inner) { set |= set_of_symbol(inner); });
    });
    return set;
  }

  /// Of a bool or f64 register that follows from sizes.
  SymbolSet set_of_scalar(Reg r) {
    if (home(r) == number_) return scalar_set_[static_cast<size_t>(r)];
    SymbolSet set = 0;
    std::vector<Reg> todo{r};
    std::unordered_map<Reg, bool> met{{r, true}};
    size_t steps = 0;
    while (!todo.empty()) {
      const int32_t d = v_.definition(todo.back());
      todo.pop_back();
      if (d < 0) continue;
      if (++steps > kMaxSteps) return set | kFurtherSymbols;
      const Instr& i = v_.at(d);
      if (i.op == Opcode::kScalarPhi) return set | kFurtherSymbols;  // depends on the path, too
      for (Dim x : i.dims) set |= set_of(x);
      for (Reg u : i.uses)
        if (u != kNoReg && v_.kind(u) != RegKind::kTensor && met.emplace(u, true).second) todo.push_back(u);
    }
    return set;
  }

  SymbolSet set_of_operands(const Instr& i) {
    SymbolSet set = 0;
    for (Dim d : i.dims) set |= set_of(d);
    for (Reg r : i.uses)
      if (r != kNoReg && (v_.kind(r) == RegKind::kBool || v_.kind(r) == RegKind::kF64)) set |= set_of_scalar(r);
    return set;
  }

  // --- instructions

  void tensor(Reg r) {
    if (seen_[static_cast<size_t>(r)] == number_) return;
    seen_[static_cast<size_t>(r)] = number_;
    if (v_.constant[static_cast<size_t>(r)]) return;
    tensors_.push_back(r);
    for (Dim d : v_.type(r).shape) set_of(d);
  }

  void read(const Instr& i, int32_t at) {
    if (i.op == Opcode::kBranchIf || i.op == Opcode::kSwitch) computed_with_ |= set_of_operands(i);
    define(i, at);
    for (const auto* list : {&i.uses, &i.outs, &i.defs})
      for (Reg r : *list)
        if (v_.is_tensor(r)) tensor(r);
  }

  /// Values that no expression describes, and symbols that the instruction binds, depend on what it reads.
  void define(const Instr& i, int32_t at) {
    if (i.op == Opcode::kScalarInput) return;  // known at entry, wherever it stands
    const bool phi = instr_info(i.op).has(kPhi);
    for (Reg r : i.defs) {
      if (v_.kind(r) == RegKind::kTensor) {
        const auto& shape = v_.type(r).shape;
        for (size_t a = 0; a < shape.size(); ++a) {
          if (!shape[a].is_symbol()) continue;
          auto bound = v_.bound_at.find(shape[a].symbol());
          if (bound == v_.bound_at.end() || bound->second != at || sets_.contains(shape[a].symbol())) continue;
          SymbolSet set = phi ? set_of_operands(v_.branch_before(v_.block_of[static_cast<size_t>(at)])) : 0;
          for (Reg u : i.uses)
            if (v_.is_tensor(u) && a < v_.type(u).shape.size()) set |= set_of(v_.type(u).shape[a]);
          sets_[shape[a].symbol()] = set;
          computed_with_ |= set;
        }
        continue;
      }
      if (v_.kind(r) == RegKind::kI64 && !v_.opaque(r)) continue;
      SymbolSet set = set_of_operands(i);
      if (phi) set |= set_of_operands(v_.branch_before(v_.block_of[static_cast<size_t>(at)]));
      scalar_set_[static_cast<size_t>(r)] = set;
      if (v_.kind(r) != RegKind::kI64) continue;
      computed_with_ |= set;
      if (const Dim v = v_.facts.reg_value[static_cast<size_t>(r)]; v.is_symbol()) sets_[v.symbol()] = set;
    }
  }

  // --- axes

  void count_axes() {
    std::unordered_map<SymbolSet, int64_t> counts;
    for (Reg r : tensors_)
      for (Dim d : v_.type(r).shape) {
        ++region_->axes;
        if (const SymbolSet set = set_of(d)) ++counts[set];
        else ++region_->constant_axes;
      }
    for (const auto& [set, n] : counts) region_->bound_axes.push_back({set, n});
    std::sort(region_->bound_axes.begin(), region_->bound_axes.end(), [](const AxisCount& a, const AxisCount& b) { return a.symbols < b.symbols; });
  }

  /// The set of the symbol that is the whole extent of axis 0; 0 if the extent is anything else.
  SymbolSet outer(Reg r) {
    if (r == kNoReg || !v_.is_tensor(r) || v_.constant[static_cast<size_t>(r)] || v_.type(r).shape.empty()) return 0;
    const Dim d = v_.value(v_.type(r).shape[0]);
    return d.is_symbol() ? set_of(d) : 0;
  }

  void find_free() {
    SymbolSet used = computed_with_;  // for anything but an outermost extent
    for (Reg r : tensors_) {
      const auto& shape = v_.type(r).shape;
      for (size_t a = 0; a < shape.size(); ++a)
        if (a > 0 || !v_.value(shape[a]).is_symbol()) used |= set_of(shape[a]);
    }
    for (const Segment& s : region_->segments)
      for (int32_t k = s.begin; k < s.end; ++k) {
        const Instr& i = v_.at(k);
        SymbolSet carried = 0;
        std::vector<OuterOperand> inputs, outputs;
        auto add = [&](Reg r, std::vector<OuterOperand>& list) {
          const SymbolSet set = outer(r);
          carried |= set;
          list.push_back({v_.is_tensor(r) ? &v_.type(r) : nullptr, set != 0});
        };
        for (Reg r : i.uses) add(r, inputs);
        for (Reg r : i.defs) add(r, outputs);
        for (Reg r : i.outs) add(r, outputs);
        if (carried && !keeps_outer_axis(i, inputs, outputs)) used |= carried;
        if (i.op == Opcode::kOpCall) used |= sizes_beside_extents(i);
      }
    region_->free = region_->all() & ~used & ~kFurtherSymbols;
  }

  /// Symbols in the size arguments of a call, but for an extent of its result.
  SymbolSet sizes_beside_extents(const Instr& call) {
    SymbolSet set = 0;
    const Reg out = call.outs.empty() ? kNoReg : call.outs[0];
    for (size_t k = 0; k < call.dims.size(); ++k) {
      const bool extent = k == 0 && argument_is_outer_extent(call.text) && v_.is_tensor(out) && !v_.type(out).shape.empty() && v_.value(call.dims[0]) == v_.value(v_.type(out).shape[0]);
      if (extent) continue;
      DimContext::for_each_symbol(v_.value(call.dims[k]), [&](SymbolId s) {
        if (auto known = sets_.find(s); known != sets_.end()) set |= known->second;
      });
    }
    return set;
  }

  // --- borders

  static void add_once(std::vector<Reg>& list, Reg r) {
    if (list.empty() || list.back() != r) list.push_back(r);
  }

  static void tidy(std::vector<Reg>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  void find_outputs() {
    for (size_t i = 0; i < v_.instrs.size(); ++i) {
      const Instr& x = v_.at(static_cast<int32_t>(i));
      const int32_t here = region_of_[i];
      auto cross = [&](Reg r, bool writes) {
        const int32_t from = home(r);
        if (from != here && from >= 0) add_once(regions_[static_cast<size_t>(from)].outputs, r);
        if (here < 0) return;
        Region& to = regions_[static_cast<size_t>(here)];
        const int32_t d = v_.definition(r);
        if (d >= 0 && v_.at(d).op == Opcode::kTensorConst) add_once(to.constants, r);
        else if (from != here) add_once(v_.kind(r) != RegKind::kTensor ? to.scalars : writes ? to.written : to.inputs, r);
      };
      const bool window = x.op == Opcode::kTensorView && view_kind(x) == ViewKind::kWindow;
      if (x.op == Opcode::kTensorFree && here >= 0 && home(x.uses[0]) != here) continue;  // its reference ends here, its contents aren't read
      for_each_read(v_.module, v_.index, x, [&](Reg r) { cross(r, window && r == x.uses[0]); });
      for (Reg r : x.outs)
        if (r != kNoReg && std::find(x.defs.begin(), x.defs.end(), r) == x.defs.end()) cross(r, true);
    }
    for (Region& r : regions_)
      for (auto* list : {&r.inputs, &r.written, &r.scalars, &r.constants, &r.outputs}) tidy(*list);
  }

  const FunctionView& v_;
  std::vector<Region>& regions_;
  std::vector<int32_t> region_of_;               // by instruction
  std::vector<int32_t> seen_;                    // by register: the last region that met it
  std::vector<SymbolSet> scalar_set_;            // by register
  int32_t number_ = 0;
  Region* region_ = nullptr;
  std::unordered_map<SymbolId, SymbolSet> sets_;
  std::vector<Reg> tensors_;
  SymbolSet computed_with_ = 0;                  // symbols that conditions and opaque values are made from
};

}  // namespace

void describe_regions(const FunctionView& view, std::vector<Region>& regions) { Describer(view, regions).describe(); }

}  // namespace msvm::jit
