// A kernel that is a C function, as an operator's kernel.
#pragma once
#include "msvm/kernels/operator_c.h"
#include "msvm/kernels/registered.h"

namespace msvm {

class CKernel : public OperatorKernel {
 public:
  CKernel(msvm_kernel kernel, void* state) : kernel_(kernel), state_(state) {}
  ~CKernel() override {
    if (free_state_) free_state_(state_);
  }
  CKernel(const CKernel&) = delete;
  CKernel& operator=(const CKernel&) = delete;
  /// The state is freed with this. Before anybody else could free this.
  void own_state(void (*free_state)(void*)) { free_state_ = free_state; }
  Status run(KernelCall& call) const override;
  bool same(const OperatorKernel& other) const override {
    const auto* c = dynamic_cast<const CKernel*>(&other);
    return c && c->kernel_ == kernel_ && c->state_ == state_;
  }

 private:
  const msvm_kernel kernel_;
  void* const state_;
  void (*free_state_)(void*) = nullptr;
};

}  // namespace msvm
