// For this room's tests: an operator called as the engine calls it, with shapes from its schema row.
#pragma once
#include <algorithm>

#include "msvm/kernels/kernel_testing.h"
#include "msvm/kernels/kernel_util.h"

namespace msvm::testing {

inline const KernelList& plain_kernels() {
  static const KernelList list = [] {
    KernelList l;
    add_elementwise_kernels(l), add_logical_kernels(l), add_reduce_kernels(l), add_movement_kernels(l), add_creation_kernels(l), add_indexing_kernels(l);
    add_select_kernels(l);
    return l;
  }();
  return list;
}

/// Fails where a condition does not hold.
class CheckingSink final : public ConditionSink {
 public:
  Status require(const DimCondition& c, std::string_view what) override {
    if (c.a.is_const() && c.b.is_const() && !holds(c.op, c.a.value(), c.b.value())) return shape_mismatch(std::string(what));
    return {};
  }
};

inline WorkerPool& workers(int threads) {
  static WorkerPool pools[4] = {WorkerPool(1), WorkerPool(1), WorkerPool(2), WorkerPool(3)};
  return pools[threads];
}

struct OpCall {
  std::string op;
  std::vector<const Tensor*> inputs = {};  // null = absent
  std::vector<int64_t> args = {};
  Attributes attrs = {};
  int outputs = 1;
  std::string kernel = {};            // empty: the reference kernel
  int threads = 2;
  bool strided_outputs = false;       // destinations with gaps, as windows of larger tensors are
};

inline Result<std::vector<Tensor>> run_op(const OpCall& call) {
  const OpSchema* op = find_op(call.op);
  if (!op) return invalid_argument("no operator " + call.op);
  const KernelInfo* kernel = nullptr;
  for (const KernelInfo& k : plain_kernels())
    if (k.op == call.op && (call.kernel.empty() ? k.name.starts_with("ref_") : k.name == call.kernel)) kernel = &k;
  if (!kernel) return invalid_argument("no kernel for " + call.op);
  DimContext dims;
  std::vector<TensorType> types(call.inputs.size());
  std::vector<const TensorType*> in_types;
  std::vector<const TensorMeta*> in;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (const Tensor* t = call.inputs[i]) {
      types[i].dtype = t->meta.dtype;
      for (int64_t d : t->meta.dims()) types[i].shape.push_back(dims.constant(d));
    }
    in_types.push_back(call.inputs[i] ? &types[i] : nullptr);
    in.push_back(call.inputs[i] ? &call.inputs[i]->meta : nullptr);
  }
  std::vector<Dim> args;
  for (int64_t a : call.args) args.push_back(dims.constant(a));
  CheckingSink sink;
  auto inferred = infer_call(*op, dims, in_types, args, call.attrs, static_cast<size_t>(call.outputs), sink);
  if (!inferred.ok()) return inferred.status();
  std::vector<Tensor> outputs(static_cast<size_t>(call.outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& t = (*inferred)[i];
    Shape shape;
    bool known = !t.unknown_rank;
    for (Dim d : t.shape) {
      known = known && d.valid() && d.is_const();
      if (known) shape.push_back(d.value());
    }
    if (op->data_dependent) known = false;
    if (known) outputs[i] = Tensor(t.dtype, shape);
    if (known && call.strided_outputs) outputs[i] = strided(outputs[i]);
    outputs[i].meta.dtype = t.dtype;
  }
  std::vector<TensorMeta*> out;
  for (Tensor& t : outputs) out.push_back(&t.meta);
  TestMemory memory;
  memory.outputs = out;
  std::unique_ptr<KernelSiteState> site;
  KernelCall k{*op, call.attrs, in, call.args, out, 0, workers(call.threads), memory, site, false};
  Status s = kernel->run(k);
  if (!s.ok()) return s;
  for (auto& made : memory.made)
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i]->data == made->meta.data && out[i]->rank == made->meta.rank && outputs[i].bytes.empty()) {
        outputs[i] = std::move(*made);
        break;
      }
  // Sizes that the schema knew must be those the kernel gave.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& t = (*inferred)[i];
    if (t.unknown_rank) continue;
    EXPECT_EQ(t.shape.size(), outputs[i].shape().size()) << call.op;
    for (size_t a = 0; a < t.shape.size() && a < outputs[i].shape().size(); ++a)
      if (t.shape[a].valid() && t.shape[a].is_const()) { EXPECT_EQ(t.shape[a].value(), outputs[i].shape()[a]) << call.op; }
  }
  return outputs;
}

/// The only output's values; a failure of the test if there is none.
inline std::vector<double> values_of(const OpCall& call) {
  auto r = run_op(call);
  EXPECT_TRUE(r.ok()) << call.op << ": " << (r.ok() ? "" : r.status().message());
  return r.ok() ? (*r)[0].values() : std::vector<double>{};
}
inline Shape shape_of(const OpCall& call) {
  auto r = run_op(call);
  EXPECT_TRUE(r.ok()) << call.op << ": " << (r.ok() ? "" : r.status().message());
  return r.ok() ? (*r)[0].shape() : Shape{-1};
}
inline StatusCode code_of(const OpCall& call) {
  auto r = run_op(call);
  return r.ok() ? StatusCode::kOk : r.status().code();
}

inline double step_of(DType t) { return t == DType::kF64 ? 1e-14 : t == DType::kF32 ? 3e-7 : t == DType::kF16 ? 1e-3 : t == DType::kBF16 ? 8e-3 : 0; }

/// Calls visit(index) for every index of a shape, in row-major order.
template <class F>
void each_index(const Shape& shape, F&& visit) {
  const int64_t n = size_of(shape);
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    visit(index);
    for (size_t a = shape.size(); a-- > 0;) {
      if (++index[a] < shape[a]) break;
      index[a] = 0;
    }
  }
}
/// Position in a tensor of `shape` of an index that broadcasts to it.
inline size_t flat_of(const Shape& shape, const Shape& index) {
  int64_t at = 0;
  for (size_t a = 0; a < shape.size(); ++a) {
    const int64_t i = index[index.size() - shape.size() + a];
    at = at * shape[a] + (shape[a] == 1 ? 0 : i);
  }
  return static_cast<size_t>(at);
}

}  // namespace msvm::testing
