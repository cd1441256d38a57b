// What the inspector says, as JSON. Private to the room.
#pragma once
#include "observe/dap/state.h"

namespace msvm::observe::dap {

Json place_json(debug::Place place);
Json breakpoint_json(const State& state, const debug::Breakpoint& breakpoint);
Json breakpoints_json(const State& state, const std::vector<debug::Breakpoint>& breakpoints);
/// A row of msvm/registers.
Json register_json(const debug::RegisterView& r);
Json kernel_json(const KernelVerdict& k);
Json statistics_json(const debug::Statistics& s);
/// Values of a copy, flat; what JSON has no numbers for as text.
Json elements_json(const debug::TensorCopy& t);
/// In few words, for a list of variables: "f32[dynamic=16, 3, h=512, w=512]", "7", "unwritten".
std::string value_text(const debug::RegisterView& r);
/// Body of msvm/status; kAnyThread: of one that waits, if there is one.
Json status_json(State& state, debug::ThreadId thread);
/// A file as the protocol's Source: with its path where it is there.
Json file_source(const std::string& file);
std::string number_text(double value);

}  // namespace msvm::observe::dap
