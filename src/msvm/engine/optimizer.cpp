#include "msvm/engine/optimizer.h"

#include <vector>

#include "msvm/base/checked.h"
#include "msvm/bytecode/constant_data.h"
#include "msvm/sched/scheduler.h"

namespace msvm {
namespace {

TensorMeta meta_of(const TensorType& t) {
  TensorMeta m;
  m.dtype = t.dtype;
  m.rank = static_cast<uint8_t>(t.shape.size());
  for (size_t a = 0; a < t.shape.size(); ++a) m.shape[a] = t.shape[a].value();
  return m;
}

class HeapScratch final : public KernelMemory {
 public:
  Status allocate_output(size_t, DType, std::span<const int64_t>) override { return unsupported("sizes that values give aren't folded"); }
  Result<std::byte*> scratch(int64_t bytes) override {
    blocks_.push_back(allocate_constant_bytes(static_cast<size_t>(bytes)));
    if (!blocks_.back()) return resource_limit("no memory to fold constants");
    return blocks_.back().get();
  }

 private:
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

class KernelEvaluator final : public Evaluator {
 public:
  KernelEvaluator() : workers_(1), scheduler_(default_capability_db(), workers_) {}

  Result<Constant> evaluate(const Instr& call, std::span<const Constant* const> inputs, const TensorType& type) override {
    const OpSchema* op = find_op(call.text);
    if (!op) return unsupported("there is no operator " + call.text);
    Constant c;
    c.type = type;
    TensorMeta out = meta_of(type);
    if (!set_dense_strides(out)) return overflow_error("sizes overflow");
    c.bytes = static_cast<size_t>(out.elements() * dtype_bytes(out.dtype));
    auto owner = allocate_constant_bytes(c.bytes);
    if (!owner) return resource_limit("no memory to fold constants");
    c.data = out.data = owner.get();
    c.keep_alive = owner;
    std::vector<TensorMeta> metas(inputs.size());
    std::vector<const TensorMeta*> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) {
        pointers.push_back(nullptr);
        continue;
      }
      if (inputs[i]->type.dtype == DType::kString) return unsupported("strings aren't folded");
      metas[i] = meta_of(inputs[i]->type);
      if (!set_dense_strides(metas[i])) return overflow_error("sizes overflow");
      metas[i].data = const_cast<std::byte*>(inputs[i]->data);
      pointers.push_back(&metas[i]);
    }
    std::vector<int64_t> args;
    for (Dim d : call.dims) args.push_back(d.value());
    MSVM_ASSIGN_OR_RETURN(auto site, scheduler_.make_site(*op, call.attrs, {}));
    HeapScratch memory;
    TensorMeta* outputs[] = {&out};
    MSVM_RETURN_IF_ERROR(scheduler_.call(*site, {pointers, args, outputs, 0, 0}, memory));
    return c;
  }

 private:
  WorkerPool workers_;
  Scheduler scheduler_;
};

}  // namespace

Result<std::shared_ptr<const VerifiedModule>> verify_and_optimize(Module module, const OptOptions& options, Diagnostics* findings) {
  VerifyResult given = verify(std::move(module));
  if (!given.module) {
    if (findings) *findings = given.errors;
    return to_status(given.errors);
  }
  if (options.level == 0) return std::move(given.module);
  KernelEvaluator evaluator;
  MSVM_ASSIGN_OR_RETURN(Module better, optimize(*given.module, options, &evaluator));
  VerifyResult result = verify(std::move(better));
  if (!result.module) return to_status(result.errors).with_context("the optimiser made a module that doesn't verify; please report this, and use --opt=0 meanwhile\n");
  return std::move(result.module);
}

}  // namespace msvm
