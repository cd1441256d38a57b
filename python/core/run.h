// Runs of programs from Python: without the GIL, with Ctrl-C, and with the exceptions of Python code that the program calls.
#pragma once
#include "gil.h"
#include "msvm/engine/engine.h"

namespace msvm::python {

/// Runs with the GIL given away. Throws what Python code within the run raised (kernels, print, signal handlers: KeyboardInterrupt); then,
/// and where the Status isn't ok, there are no results. On the main thread signals are looked for every 20 ms or so, at calls, loops and
/// chunks of long kernels; shorter runs make no system call and don't ask for the GIL.
Status run_without_gil(Executable& executable, std::span<const Value> inputs, std::vector<Value>& results, int32_t function = 0);

/// For code that a run calls, with the GIL: the exception that is set (or being handled as `error`) ends this thread's run and is raised by
/// run_without_gil(). Returns what the kernel is to return.
Status end_run_with_python_error(std::string_view where);
Status end_run_with_python_error(nb::python_error& error, std::string_view where);

void bind_run(nb::module_& m);

}  // namespace msvm::python
