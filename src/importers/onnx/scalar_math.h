// Arithmetic on single elements whose values are constants, size expressions or expressions computed at run time.
// Every function gives nothing where the result can't be followed (overflow, types without exact arithmetic here).
#pragma once
#include "importers/onnx/importer.h"

namespace msvm::onnx {

using MaybeScalar = std::optional<Scalar>;

MaybeScalar scalar_add(GraphImporter& im, DType t, const Scalar& a, const Scalar& b);
MaybeScalar scalar_sub(GraphImporter& im, DType t, const Scalar& a, const Scalar& b);
MaybeScalar scalar_mul(GraphImporter& im, DType t, const Scalar& a, const Scalar& b);
MaybeScalar scalar_div(GraphImporter& im, DType t, const Scalar& a, const Scalar& b);  // integers truncate, as in ONNX
MaybeScalar scalar_mod(GraphImporter& im, DType t, const Scalar& a, const Scalar& b);  // sign of b
MaybeScalar scalar_min(GraphImporter& im, DType t, const Scalar& a, const Scalar& b);
MaybeScalar scalar_max(GraphImporter& im, DType t, const Scalar& a, const Scalar& b);
MaybeScalar scalar_unary(GraphImporter& im, DType t, ScalarOp op, const Scalar& a);     // floor, ceil, round, sqrt, neg of floats
MaybeScalar scalar_neg(GraphImporter& im, DType t, const Scalar& a);
MaybeScalar scalar_abs(GraphImporter& im, DType t, const Scalar& a);
MaybeScalar scalar_compare(GraphImporter& im, CalcOp op, const Scalar& a, const Scalar& b);  // kEq, kNe, kLt, kLe, kGt, kGe
MaybeScalar scalar_logic(GraphImporter& im, CalcOp op, const Scalar& a, const Scalar& b);    // kAnd, kOr
MaybeScalar scalar_not(GraphImporter& im, const Scalar& a);
MaybeScalar scalar_select(GraphImporter& im, const Scalar& cond, const Scalar& a, const Scalar& b);
MaybeScalar scalar_cast(GraphImporter& im, DType from, DType to, const Scalar& a);

// Sizes.
bool always_le(DimContext& dims, Dim a, Dim b);

}  // namespace msvm::onnx
