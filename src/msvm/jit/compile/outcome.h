// How a compilation ended.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/jit/compile/compiler_protocol.h"

namespace msvm::jit {

enum class Outcome : uint8_t {
#define MSVM_COMPILE_OUTCOME(name, kind, text) k##name,
#include "msvm/jit/compile/outcomes.def"
#undef MSVM_COMPILE_OUTCOME
};
enum class OutcomeKind : uint8_t { kCode, kFailure, kGone };

struct OutcomeInfo {
  OutcomeKind kind;
  std::string_view text;
};
inline constexpr std::array kOutcomes = {
#define MSVM_COMPILE_OUTCOME(name, kind, text) OutcomeInfo{OutcomeKind::k##kind, text},
#include "msvm/jit/compile/outcomes.def"
#undef MSVM_COMPILE_OUTCOME
};
inline const OutcomeInfo& outcome_info(Outcome o) { return kOutcomes[static_cast<size_t>(o)]; }

using Image = std::shared_ptr<const std::vector<std::byte>>;

struct CompileResult {
  Outcome outcome = Outcome::kCancelled;
  Image image;             // of kinds Code
  std::string error;       // of the others: what happened, for the slow-path log
  PhaseSeconds phases{};   // as the compiler measured them; of failures up to the kill, all in the phase that was on
  double seconds = 0;      // wall time of the job, starting the compiler included
  double cpu_seconds = 0;  // what it cost the machine; at most a guess where the compiler crashed
  bool raised = false;     // it ran at normal priority in the end
};

}  // namespace msvm::jit
