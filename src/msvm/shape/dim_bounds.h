// Interval and congruence arithmetic over dimension expressions.
#pragma once
#include "msvm/shape/dim.h"

namespace msvm {

/// What can be said about an expression's value, from what is said about its symbols. Subclasses say it. INT64_MIN and INT64_MAX
/// in a range mean unbounded and stay so. Results hold wherever the expression is defined.
class DimBounds {
 public:
  virtual ~DimBounds() = default;
  DimRange range(Dim d) const;
  DimResidue residue(Dim d) const;

 protected:
  virtual DimRange symbol_range(SymbolId s) const = 0;
  virtual DimResidue symbol_residue(SymbolId s) const = 0;
  /// May narrow what interval arithmetic found for the node `d`.
  virtual void refine(Dim d, DimRange& range) const { (void)d, (void)range; }
  /// May give what remember() was told of a node.
  virtual bool remembered(const DimNode& n, DimRange& range) const { return (void)n, (void)range, false; }
  virtual void remember(const DimNode& n, const DimRange& range) const { (void)n, (void)range; }

 private:
  DimRange node_range(const DimNode& n) const;
};

DimRange add_ranges(DimRange x, DimRange y);
DimRange mul_ranges(DimRange x, DimRange y);
DimRange intersect(DimRange x, DimRange y);  // may come out empty: min > max

/// Range and residue as `info` declares them; the range starts and ends at values that the residue allows.
DimRange declared_range(const SymbolInfo& info);
DimResidue declared_residue(const SymbolInfo& info);
/// Narrows `range` to values of the residue class.
DimRange align_range(DimRange range, DimResidue residue);
/// value ≡ r (mod m) brought into normal form.
DimResidue make_residue(int64_t m, int64_t r);

}  // namespace msvm
