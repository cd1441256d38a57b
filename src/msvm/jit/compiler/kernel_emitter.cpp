// Rows: where the first one lies follows from its number by divisions, where the next ones do by counting.
#include "msvm/jit/compiler/kernel_emitter.h"

#include "msvm/jit/compiler/pass_emitter.h"

namespace msvm::compiler {
namespace {

using llvm::Value;

class KernelEmitter {
 public:
  KernelEmitter(llvm::Function& f, const loops::Kernel& kernel, jit::ImageIsa isa, SourceLines* lines)
      : f_(f), kernel_(kernel), b_(f.getContext()), state_{b_, kernel, isa == jit::ImageIsa::kAvx512 ? 16 : 8, isa == jit::ImageIsa::kAvx512, {}, {}, {}, lines} {}

  void emit() {
    auto *entry = block("entry"), *start = block("start"), *exit = block("exit");
    b_.SetInsertPoint(entry);
    if (state_.lines) state_.lines->enter(b_, f_, kernel_);
    Value* some = b_.CreateICmpSLT(f_.getArg(2), f_.getArg(3));
    const bool splits = kernel_.splits_columns();
    if (splits) some = b_.CreateAnd(some, b_.CreateICmpSLT(f_.getArg(4), f_.getArg(5)));
    b_.CreateCondBr(some, start, exit);
    b_.SetInsertPoint(start);
    arguments();
    first_row();
    auto* before = b_.GetInsertBlock();
    row_ = block("rows");
    b_.CreateBr(row_);
    b_.SetInsertPoint(row_);
    open_rows(before);
    for (const loops::Pass& pass : kernel_.passes) {
      if (state_.lines) state_.lines->at_kernel(b_);
      PassEmitter p(state_, pass);
      if (pass.row) p.row_section();
      else if (splits) p.walk(f_.getArg(4), f_.getArg(5));
      else p.walk(b_.getInt64(0), size(kernel_.inner));
    }
    if (state_.lines) state_.lines->at_kernel(b_);
    next_row(exit);
    b_.SetInsertPoint(exit);
    b_.CreateRetVoid();
  }

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(f_.getContext(), name, &f_); }
  Value* size(const loops::Size& s) { return s.argument >= 0 ? state_.sizes[static_cast<size_t>(s.argument)] : b_.getInt64(static_cast<uint64_t>(s.value)); }
  Value* bytes(const loops::Access& a, Value* elements) { return b_.CreateMul(elements, b_.getInt64(static_cast<uint64_t>(dtype_bytes(a.dtype)))); }
  Value* moved(Value* pointer, Value* by) { return b_.CreateGEP(b_.getInt8Ty(), pointer, by); }

  void arguments() {
    for (int i = 0; i < kernel_.sizes; ++i)
      state_.sizes.push_back(b_.CreateAlignedLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), f_.getArg(1), static_cast<uint64_t>(i)), llvm::Align(8)));
    for (size_t t = 0; t < kernel_.tensors.size(); ++t) {
      const loops::Access& a = kernel_.tensors[t];
      Value* base = b_.CreateAlignedLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), f_.getArg(0), t), llvm::Align(8));
      state_.tensors.push_back({a.dtype, base, a.strides.back() == loops::Size::number(1) ? nullptr : size(a.strides.back())});
      std::vector<Value*> steps;
      for (size_t axis = 0; axis < kernel_.outer.size(); ++axis) steps.push_back(bytes(a, size(a.strides[axis])));
      steps_.push_back(std::move(steps));
    }
  }

  void first_row() {
    index_.assign(axes(), nullptr);
    Value* rest = f_.getArg(2);
    for (size_t axis = axes(); axis-- > 0;) {
      Value* extent = axis ? size(kernel_.outer[axis]) : nullptr;
      index_[axis] = axis ? b_.CreateURem(rest, extent) : rest;
      if (axis) rest = b_.CreateUDiv(rest, extent);
      for (size_t t = 0; t < state_.tensors.size(); ++t) state_.tensors[t].row = moved(state_.tensors[t].row, b_.CreateMul(index_[axis], steps_[t][axis]));
    }
    // From the end of the last axis back to its beginning and one step on along the axis before it.
    if (axes() >= 2)
      for (auto& steps : steps_) turn_.push_back(b_.CreateSub(steps[axes() - 2], b_.CreateMul(steps[axes() - 1], size(kernel_.outer[axes() - 1]))));
  }
  size_t axes() const { return kernel_.outer.size(); }

  llvm::PHINode* phi(Value* start, llvm::BasicBlock* before) {
    auto* p = b_.CreatePHI(start->getType(), 2);
    p->addIncoming(start, before);
    return p;
  }

  void open_rows(llvm::BasicBlock* before) {
    number_ = phi(f_.getArg(2), before);
    for (size_t axis = 1; axis < axes(); ++axis) index_[axis] = phi(index_[axis], before);
    for (RowOf& t : state_.tensors) t.row = phi(t.row, before);
  }

  void next_row(llvm::BasicBlock* exit) {
    if (axes() == 0) {  // there is one row
      b_.CreateBr(exit);
      return;
    }
    auto *more = block("next"), *latch = block("latch");
    Value* number = b_.CreateAdd(number_, b_.getInt64(1));
    b_.CreateCondBr(b_.CreateICmpSLT(number, f_.getArg(3)), more, exit);
    b_.SetInsertPoint(more);
    const size_t last = axes() - 1;
    std::vector<Value*> rows, index(axes(), nullptr);
    for (size_t t = 0; t < state_.tensors.size(); ++t) rows.push_back(moved(state_.tensors[t].row, steps_[t][last]));
    if (axes() == 1) {
      b_.CreateBr(latch);
      b_.SetInsertPoint(latch);
    } else {
      auto* turn = block("turn");
      index[last] = b_.CreateAdd(index_[last], b_.getInt64(1));
      b_.CreateCondBr(b_.CreateICmpEQ(index[last], size(kernel_.outer[last])), turn, latch);
      b_.SetInsertPoint(turn);
      std::vector<Value*> turned_rows, turned(axes(), nullptr);
      for (size_t t = 0; t < rows.size(); ++t) turned_rows.push_back(moved(rows[t], turn_[t]));
      turned[last] = b_.getInt64(0);
      carry(turned, turned_rows);
      b_.CreateBr(latch);
      b_.SetInsertPoint(latch);
      auto join = [&](Value* straight, Value* other) {
        auto* p = phi(straight, more);
        p->addIncoming(other, turn);
        return p;
      };
      for (size_t axis = 1; axis < axes(); ++axis) index[axis] = join(axis == last ? index[axis] : index_[axis], turned[axis]);
      for (size_t t = 0; t < rows.size(); ++t) rows[t] = join(rows[t], turned_rows[t]);
    }
    number_->addIncoming(number, latch);
    for (size_t axis = 1; axis < axes(); ++axis) llvm::cast<llvm::PHINode>(index_[axis])->addIncoming(index[axis], latch);
    for (size_t t = 0; t < rows.size(); ++t) llvm::cast<llvm::PHINode>(state_.tensors[t].row)->addIncoming(rows[t], latch);
    b_.CreateBr(row_);
  }

  /// After the last axis was turned: the indices of the others; the pointers have moved one step along the last but one.
  void carry(std::vector<Value*>& index, std::vector<Value*>& rows) {
    Value* one = b_.getInt64(1);
    for (size_t axis = axes() - 2; axis >= 1; --axis) {
      Value* next = b_.CreateAdd(index_[axis], one);
      Value* full = b_.CreateICmpEQ(next, size(kernel_.outer[axis]));
      index[axis] = b_.CreateSelect(full, b_.getInt64(0), next);
      for (size_t t = 0; t < rows.size(); ++t) {
        Value* back = b_.CreateSub(steps_[t][axis - 1], b_.CreateMul(steps_[t][axis], size(kernel_.outer[axis])));
        rows[t] = moved(rows[t], b_.CreateSelect(full, back, b_.getInt64(0)));
      }
      one = b_.CreateZExt(full, b_.getInt64Ty());
    }
  }

  llvm::Function& f_;
  const loops::Kernel& kernel_;
  llvm::IRBuilder<> b_;
  KernelState state_;
  std::vector<std::vector<Value*>> steps_;  // bytes, by tensor and outer axis
  std::vector<Value*> turn_, index_;
  llvm::PHINode* number_ = nullptr;
  llvm::BasicBlock* row_ = nullptr;
};

}  // namespace

llvm::Function* emit_kernel(llvm::Module& module, const loops::Kernel& kernel, jit::ImageIsa isa, const std::string& name, SourceLines* lines) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(c);
  llvm::Type* i64 = llvm::Type::getInt64Ty(c);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), {pointer, pointer, i64, i64, i64, i64}, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  f->setDSOLocal(true);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr("no-builtins");
  f->addFnAttr("frame-pointer", "none");
  f->addFnAttr("tune-cpu", isa == jit::ImageIsa::kAvx512 ? "x86-64-v4" : "x86-64-v3");
  if (isa == jit::ImageIsa::kAvx512) {
    f->addFnAttr("prefer-vector-width", "512");
    f->addFnAttr("min-legal-vector-width", "512");
  }
  KernelEmitter(*f, kernel, isa, lines).emit();
  return f;
}

}  // namespace msvm::compiler
