// Registers, symbols, buffers and calls of a run that waits, as people read them. Private to the room.
#pragma once
#include "msvm/engine/engine.h"
#include "observe/debug/types.h"

namespace msvm::observe::debug {

/// `since`: RunView::clock() at the last stop. `offset_of`: of an instruction, for "fused into 0x1a".
struct RegisterReader {
  const RunView& view;
  uint64_t since = 0;
  std::span<const uint32_t> offsets = {};

  RegisterView read(Reg r) const;
};

std::string state_text(const RunView& view, const RegisterLook& look, std::span<const uint32_t> offsets = {});
std::string_view layout_text(Layout layout);
/// "[dynamic=16, 3, h=512, w=512]"
std::string shape_text(const RunView& view, Reg tensor);
std::string owner_text(const RunView& view, Reg tensor);

std::vector<SymbolView> symbols_of(const RunView& view);
std::vector<ConstantView> constants_of(const RunView& view);
std::vector<BufferView> buffers_of(const RunView& view);
/// None: the run isn't at an OP_CALL.
Result<std::optional<CallView>> call_of(const RegisterReader& reader, const Executable& program);

}  // namespace msvm::observe::debug
