// The compiled part of the package: thin bindings.
#include "builder.h"
#include "custom.h"
#include "debug.h"
#include "dispatcher.h"
#include "engines.h"
#include "entry.h"
#include "executable.h"
#include "monitor.h"
#include "mutable.h"
#include "options.h"
#include "run.h"
#include "signature.h"
#include "tensor.h"
#include "trace.h"

NB_MODULE(_core, m) {
  using namespace msvm::python;
  nanobind::set_leak_warnings(false);  // dtypes and caches live as long as the process
  m.attr("__version__") = MSVM_VERSION;
  bind_dtypes(m);
  bind_options(m);
  bind_executable(m);
  bind_engines(m);
  bind_monitor(m);
  bind_debug(m);
  bind_builder(m);
  bind_mutable(m);
  bind_tensor(m);
  bind_run(m);
  bind_custom(m);
  bind_signature(m);
  bind_entry(m);
  bind_dispatcher(m);
  bind_trace(m);
}
