// Wires the interpreter's Dispatcher to schedulers, kernels and devices. Private to the room.
#pragma once
#include <memory>
#include <vector>

#include "msvm/engine/packed_weights.h"
#include "msvm/engine/sim_stream.h"
#include "msvm/verify/verify.h"
#include "msvm/vm/interfaces.h"

namespace msvm {

/// One per session. Calls on the host run at once. Those on simulated devices are queued there; where a device has no kernel the host
/// serves, through copies.
class SessionDispatcher final : public Dispatcher {
 public:
  /// `weights` of the program that runs; null: kernels keep their own at each call site.
  /// `module`: the program's, for the registered operators it holds; null: there are none.
  explicit SessionDispatcher(Devices& devices, PackedWeights* weights = nullptr, const VerifiedModule* module = nullptr);
  ~SessionDispatcher() override;
  Result<std::unique_ptr<CallState>> prepare(const Module& module, const Function& function, const Instr& call) override;
  Status dispatch(CallState& state, CallFrame& frame) override;
  CallReport last_report(const CallState& state) const override;
  Status copy(const TensorMeta& source, const TensorMeta& destination) override;
  Status fetch(const TensorMeta& element, std::byte* to) override;
  void split(int64_t count, double nanoseconds_per_item, FunctionRef<void(int64_t, int64_t)> body) override;
  Status finish() override;
  /// Of calls on the host so far. Between runs; may be cleared of what is missing.
  CallTotals& totals() { return totals_; }
  /// What the call chose on the device where it ran last.
  std::vector<SiteChoice> choices(const CallState& state) const;
  /// The kernels that the next call could take, cheapest first, as dispatch() would find them; nothing is allocated.
  std::vector<Candidate> candidates(CallState& state, const CallFrame& frame);

 private:
  class Site;
  Status on_device(Site& site, CallFrame& frame);
  Status through_host(Site& site, CallFrame& frame);
  Result<SimStream*> stream(Device d);
  Result<TensorValue> host_tensor(const TensorMeta& like);

  Devices& devices_;
  PackedWeights* weights_;
  const VerifiedModule* module_;
  CallTotals totals_;
  Scratch scratch_;
  std::vector<std::unique_ptr<SimStream>> streams_;  // by index of the device; made when needed
};

}  // namespace msvm
