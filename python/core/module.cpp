// The compiled part of the package: thin bindings.
#include "builder.h"
#include "engines.h"
#include "executable.h"
#include "options.h"

NB_MODULE(_core, m) {
  using namespace msvm::python;
  nanobind::set_leak_warnings(false);  // dtypes live as long as the process
  m.attr("__version__") = MSVM_VERSION;
  bind_dtypes(m);
  bind_options(m);
  bind_executable(m);
  bind_engines(m);
  bind_builder(m);
}
