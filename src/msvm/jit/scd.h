// Declared SCD: how much of a program's shapes is settled by what callers declared. A report; it triggers nothing (trigger.h does).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/jit/regions.h"

namespace msvm::jit {

/// In the order in which they win where an expression has several.
enum class AxisKind : uint8_t {
  kConst,
  kDynamic,   // of an input, without a name: declared as anything; counts as known
  kFree,      // bound, and only ever the extent of an outermost axis that nothing reduces, reorders or mixes
  kBound,     // an expression over entry symbols
  kCaptured,  // a plain Python int that came in as an argument or closure value
  kFresh,     // computed at run time
};
std::string_view axis_kind_name(AxisKind k);

struct TensorScd {
  Reg reg = kNoReg;
  int32_t instruction = -1;        // that gives it its sizes: the call, view or input
  std::string name;
  std::vector<std::string> dims;   // "3", "dynamic", "symbolic:h", "captured:640", "fresh:K", as expressions where they are
  std::vector<AxisKind> kinds;
  bool counted = true;
  bool broken = false;             // a captured or fresh size where the operator derives the axis from a bound one: contributes 0
  double scd = 0;                  // (const + dynamic) / all; 1 for rank 0
  std::string reason;              // "propagated from x, dims unchanged"
  std::string mend;                // what would help; empty if nothing is wrong
};

struct DeclaredScd {
  std::vector<TensorScd> tensors;  // not the constants; in the order in which a run makes them
  double scd = 1;                  // over all axes of the counted ones
};

/// `regions` says which symbols are free.
DeclaredScd declared_scd(const FunctionView& view, const FunctionRegions& regions);

/// "Tensor x: SCD=0.5 (dims: [dynamic, 3, symbolic:h, symbolic:w])"
std::string to_string(const TensorScd& t);

}  // namespace msvm::jit
