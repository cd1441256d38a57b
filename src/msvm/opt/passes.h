// The passes, each in a file of its name. All keep the module valid in value form.
#pragma once
#include "msvm/opt/optimize.h"
#include "msvm/opt/value_graph.h"

namespace msvm::opt {

struct PassContext {
  const OptOptions& options;
  Evaluator* evaluator;     // may be null
  int64_t* constant_bytes;  // what new constants may still take in the whole module
};

#define MSVM_OPT_PASSES(X)                                                                                                  \
  X(copies, "copies of what could be read itself go")                                                                       \
  X(fold, "operators and views of constants become constants")                                                              \
  X(cse, "equal calls and views become one")                                                                                \
  X(normalization, "layer normalisation spelt out in parts becomes one call")                                               \
  X(attention, "products with softmax between them become one call")                                                        \
  X(affine, "batch normalisation and per-channel factors go into the weights of the convolution or product before")         \
  X(padding, "Pad with zeros goes into the convolution behind it")                                                          \
  X(split, "1x1 convolutions over a Concat with enlarged parts become sums: those of such parts come before the Resize")    \
  X(epilogue, "bias, residual and activations go into msvm.Conv and msvm.MatMul")                                           \
  X(pointwise, "groups of elementwise operators become msvm.Pointwise")                                                     \
  X(upsample, "convolutions read what a Resize would repeat")                                                               \
  X(layout, "tensors between convolutions lie channels-last")                                                               \
  X(concat, "calls write straight into their part of a Concat along channels")                                              \
  X(grow, "a tensor that a loop appends to keeps its storage")                                                              \
  X(order, "calls move down to their first reader where that lets less memory live")                                        \
  X(in_place, "results are marked to take the buffer of an operand that dies")

#define X(name, doc) void name##_pass(ValueGraph& g, const PassContext& context);
MSVM_OPT_PASSES(X)
#undef X

}  // namespace msvm::opt
