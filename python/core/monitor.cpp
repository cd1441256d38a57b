#include "monitor.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "gil.h"
#include "observe/monitor/monitor.h"

namespace msvm::python {
namespace {

using observe::Monitor;

/// Those that were started and not stopped: they go on without a Python object. Guarded by the GIL.
std::vector<std::shared_ptr<Monitor>>& running() {
  static auto& all = *new std::vector<std::shared_ptr<Monitor>>;
  return all;
}

struct PyMonitor {
  std::shared_ptr<Monitor> monitor;

  void stop() const {
    std::erase(running(), monitor);
    FreeGil free;
    monitor->stop();
  }
};

PyMonitor start_monitor(const std::string& address, const std::string& token, const std::string& read_token, const nb::bytes& certificate, const nb::bytes& key, const std::vector<std::string>& hosts) {
  observe::MonitorOptions o;
  const observe::Endpoint e = unwrap(observe::parse_endpoint(address));
  o.address = e.address;
  o.port = e.port;
  o.admin_token = token;
  o.read_token = read_token;
  o.certificate = path_of(certificate);
  o.key = path_of(key);
  o.hosts = hosts;
  unwrap(observe::fill_from_environment(o));
  std::shared_ptr<Monitor> monitor = unwrap([&] {
    FreeGil free;
    return Monitor::start(o, observe::process_source());
  }());
  running().push_back(monitor);
  return {monitor};
}

void set_alerts(const std::string& json) {
  const Status s = [&] {
    FreeGil free;
    return observe::process_source().act("alerts", json);
  }();
  unwrap(s);
}

}  // namespace

void bind_monitor(nb::module_& m) {
  // Before what programs use goes.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    const auto all = std::exchange(running(), {});
    FreeGil free;
    for (const auto& monitor : all) monitor->stop();
  }));
  nb::class_<PyMonitor>(m, "Monitor")
      .def("url", [](const PyMonitor& p) { return text(p.monitor->url()); })
      .def("browser_url", [](const PyMonitor& p) { return text(p.monitor->browser_url()); })
      .def("running", [](const PyMonitor& p) { return p.monitor->running(); })
      .def("stop", &PyMonitor::stop);
  m.def("start_monitor", &start_monitor, nb::arg("address"), nb::arg("token") = "", nb::arg("read_token") = "", nb::arg("certificate") = nb::bytes("", 0), nb::arg("key") = nb::bytes("", 0),
        nb::arg("hosts") = std::vector<std::string>(), "Empty ones come from the environment.");
  m.def("read_token_file", [](const nb::bytes& path) { return text(unwrap(observe::read_token_file(path_of(path)))); }, nb::arg("path"));
  m.def("monitor_url", [] { return text(running().empty() ? std::string() : running().back()->url()); }, "Of the latest monitor that runs; empty: none does.");
  m.def("set_alerts", &set_alerts, nb::arg("json"), "What monitors show under alerts: a JSON array.");
}

}  // namespace msvm::python
