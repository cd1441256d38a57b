// Comparisons, logic, bits, tests for NaN and infinity, Where.
#include <string>

#include "msvm/kernels/families.h"
#include "msvm/kernels/loops.h"

namespace msvm {
namespace {

/// Loops whose result is bool, or the inputs' own type.
Status run(KernelCall& c, int inputs, const LoopTable& table, bool to_bool, int64_t flag = 0) {
  const DType t = c.inputs[0]->dtype, compute = compute_dtype(t);
  MapSpec s;
  s.inputs = inputs;
  s.compute[0] = s.compute[1] = compute;
  s.result = to_bool ? DType::kBool : compute;
  s.loop = table[static_cast<int>(compute)];
  s.params.flag = flag;
  s.ns_per_element = 0.4;
  if (!s.loop) return unsupported(std::string(c.op.name) + ": no kernel for " + std::string(dtype_name(t)));
  return hazard_error(c.op, map_elements(c.inputs.first(static_cast<size_t>(inputs)), *c.outputs[0], s, c.workers));
}

template <const LoopTable& kTable, int kInputs, bool kToBool>
Status run_table(KernelCall& c) { return run(c, kInputs, kTable, kToBool); }

Status run_shift(KernelCall& c) { return run(c, 2, kBitShiftLoops, false, c.attrs.get_string("direction", "LEFT") == "LEFT"); }
Status run_isinf(KernelCall& c) {
  return run(c, 1, kIsInfLoops, true, (c.attrs.get_int("detect_positive", 1) ? 1 : 0) | (c.attrs.get_int("detect_negative", 1) ? 2 : 0));
}

Status run_equal(KernelCall& c) {
  if (c.inputs[0]->dtype != DType::kString) return run(c, 2, kEqualLoops, true);
  const TensorMeta& y = *c.outputs[0];
  auto nest = broadcast_nest<3>(y.dims(), {&y, c.inputs[0], c.inputs[1]});
  const auto *a = c.inputs[0]->as<std::string>(), *b = c.inputs[1]->as<std::string>();
  for_each_row(nest, c.workers, 10, [&](int64_t n, const std::array<int64_t, 3>& at) {
    for (int64_t i = 0; i < n; ++i)
      y.as<uint8_t>()[at[0] + i * nest.inner_stride(0)] = a[at[1] + i * nest.inner_stride(1)] == b[at[2] + i * nest.inner_stride(2)];
  });
  return {};
}

template <class T>
uint32_t select(const void* const* in, void* out, int64_t n, const LoopParams&) {
  const auto* c = static_cast<const uint8_t*>(in[0]);
  const T *x = static_cast<const T*>(in[1]), *y = static_cast<const T*>(in[2]);
  T* o = static_cast<T*>(out);
  MSVM_IVDEP
  for (int64_t i = 0; i < n; ++i) {
    T yes = x[i], no = y[i];
    o[i] = c[i] != 0 ? yes : no;
  }
  return 0;
}

Status run_where(KernelCall& c) {
  const TensorMeta& y = *c.outputs[0];
  if (y.dtype == DType::kString) {
    auto nest = broadcast_nest<4>(y.dims(), {&y, c.inputs[0], c.inputs[1], c.inputs[2]});
    const auto* cond = c.inputs[0]->as<uint8_t>();
    const auto *a = c.inputs[1]->as<std::string>(), *b = c.inputs[2]->as<std::string>();
    for_each_row(nest, c.workers, 20, [&](int64_t n, const std::array<int64_t, 4>& at) {
      for (int64_t i = 0; i < n; ++i)
        y.as<std::string>()[at[0] + i * nest.inner_stride(0)] = cond[at[1] + i * nest.inner_stride(1)] ? a[at[2] + i * nest.inner_stride(2)] : b[at[3] + i * nest.inner_stride(3)];
    });
    return {};
  }
  MapSpec s;
  s.inputs = 3;
  s.compute[0] = DType::kBool;
  s.compute[1] = s.compute[2] = s.result = y.dtype;
  s.ns_per_element = 0.4;
  switch (dtype_bytes(y.dtype)) {
    case 1: s.loop = select<uint8_t>; break;
    case 2: s.loop = select<uint16_t>; break;
    case 4: s.loop = select<uint32_t>; break;
    default: s.loop = select<uint64_t>; break;
  }
  map_elements(c.inputs.first(3), y, s, c.workers);
  return {};
}

void add(KernelList& list, std::string_view name, std::string_view op, KernelFn fn) {
  KernelInfo k;
  k.name = name;
  k.op = op;
  k.run = fn;
  k.default_ns_per_work = 0.4;
  list.push_back(k);
}

}  // namespace

void add_logical_kernels(KernelList& list) {
  add(list, "ref_equal", "Equal", run_equal);
#define X(Op, name, ns) add(list, "ref_" #name, #Op, run_table<k##Op##Loops, 2, true>);
  X(Greater, greater, 0.4) X(GreaterOrEqual, greaterorequal, 0.4) X(Less, less, 0.4) X(LessOrEqual, lessorequal, 0.4)
  MSVM_LOGICAL_LOOPS(X)
#undef X
#define X(Op, name) add(list, "ref_" #name, #Op, run_table<k##Op##Loops, 2, false>);
  X(BitwiseAnd, bitwiseand) X(BitwiseOr, bitwiseor) X(BitwiseXor, bitwisexor)
#undef X
  add(list, "ref_bitshift", "BitShift", run_shift);
  add(list, "ref_not", "Not", run_table<kNotLoops, 1, true>);
  add(list, "ref_bitwisenot", "BitwiseNot", run_table<kBitwiseNotLoops, 1, false>);
  add(list, "ref_isnan", "IsNaN", run_table<kIsNaNLoops, 1, true>);
  add(list, "ref_isinf", "IsInf", run_isinf);
  add(list, "ref_where", "Where", run_where);
}

}  // namespace msvm
