// Where msvm.Print goes.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "msvm/base/status.h"
#include "msvm/shape/tensor_meta.h"

namespace msvm {

/// One call of msvm.Print. Operands of the format are the tensors, then the sizes. Valid during the call only.
struct PrintCall {
  std::string_view format;                      // see ops/print_format.h
  std::span<const TensorMeta* const> tensors;   // nullptr: absent
  std::span<const int64_t> sizes;
};

/// Called on the thread that runs the program; a Status that isn't ok ends the run. Several threads may be in it.
using PrintSink = std::function<Status(const PrintCall&)>;

/// For all programs of the process. Null: standard output, as to_text() has it.
void set_print_sink(PrintSink sink);
Status print(const PrintCall& call);

/// The whole text. Tensors as nested lists, from 1000 elements on as their type; what follows : or ! is left to other sinks.
std::string to_text(const PrintCall& call);

}  // namespace msvm
