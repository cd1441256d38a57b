#include "reports.h"

#include <nanobind/stl/vector.h>

#include "builder.h"
#include "gil.h"
#include "msvm/jit/compile/find_compiler.h"
#include "msvm/jit/disk/build_id.h"
#include "msvm/jit/disk/disk_cache.h"
#include "msvm/jit/scd.h"
#include "observe/snapshot/source.h"

namespace msvm::python {
namespace {

nb::list texts(const std::vector<std::string>& list) {
  nb::list out;
  for (const std::string& s : list) out.append(text(s));
  return out;
}

nb::dict entry_dict(const JitEntryView& e) {
  nb::dict d;
  d["name"] = text(e.name);
  d["alias"] = text(e.alias);
  d["box"] = text(e.box);
  d["tier"] = e.tier;
  d["hits"] = e.hits;
  d["code_bytes"] = e.code_bytes;
  d["shared"] = e.shared;
  d["outcome"] = text(e.outcome);
  d["compile_ms"] = e.compile_ms;
  return d;
}

nb::dict region_dict(const JitRegionView& r) {
  nb::dict d;
  d["function"] = r.function;
  d["region"] = r.region;
  d["name"] = text(r.name);
  d["symbols"] = texts(r.symbols);
  d["calls"] = r.calls;
  d["fused_calls"] = r.fused_calls;
  d["fused"] = texts(r.fused);
  d["not_fused"] = texts(r.not_fused);
  d["state"] = text(r.state);
  d["scd"] = r.scd;
  d["runs"] = r.runs;
  d["native"] = r.native;
  d["specialised"] = r.specialised;
  d["interpreted_ms"] = r.interpreted_ms;
  d["native_ms"] = r.native_ms;
  nb::list entries;
  for (const JitEntryView& e : r.entries) entries.append(entry_dict(e));
  d["entries"] = entries;
  nb::list shapes;
  for (const JitShapeView& s : r.shapes) {
    nb::dict shape;
    shape["values"] = nb::cast(s.values);
    shape["runs"] = s.runs;
    shape["tier"] = s.tier;
    shape["entry"] = text(s.entry);
    shapes.append(shape);
  }
  d["shapes"] = shapes;
  return d;
}

nb::dict view_dict(const JitView& v) {
  nb::dict d;
  d["program"] = text(v.program);
  d["seconds"] = v.seconds;
  nb::list regions, slow, events;
  for (const JitRegionView& r : v.regions) regions.append(region_dict(r));
  d["regions"] = regions;
  d["runs"] = v.runs;
  d["native"] = v.native;
  d["specialised"] = v.specialised;
  d["hit_rate"] = v.hit_rate();
  d["specialised_hit_rate"] = v.specialised_hit_rate();
  d["window_runs"] = v.window_runs;
  d["window_native"] = v.window_native;
  d["window_specialised"] = v.window_specialised;
  d["code_bytes"] = v.code_bytes;
  d["cache_bytes"] = v.cache_bytes;
  d["compiled"] = v.compiled;
  d["from_disk"] = v.from_disk;
  d["failed"] = v.failed;
  d["evicted"] = v.evicted;
  d["compile_ms"] = v.compile_ms;
  for (const SlowPathView& s : v.slow_path) {
    nb::dict e;
    e["seconds"] = s.seconds;
    e["region"] = text(s.region);
    e["reason"] = text(s.reason);
    e["place"] = text(s.place);
    e["scd"] = s.scd;
    e["phase"] = text(s.phase);
    e["elapsed_ms"] = s.elapsed_ms;
    e["limit_ms"] = s.limit_ms;
    e["instead"] = text(s.instead);
    slow.append(e);
  }
  d["slow_path"] = slow;
  for (const JitEventView& s : v.events) {
    nb::dict e;
    e["seconds"] = s.seconds;
    e["kind"] = text(event_name(s.kind));
    e["what"] = text(s.what);
    events.append(e);
  }
  d["events"] = events;
  d["hint"] = text(v.hint);
  return d;
}

nb::dict queue_dict(const jit::QueueView& q) {
  nb::dict d;
  d["queued"] = q.queued;
  d["work"] = q.work;
  d["compiled"] = q.compiled.count;
  d["compile_seconds"] = q.compiled.sum;
  d["longest_seconds"] = q.compiled.max;
  d["cpu_seconds"] = q.cpu_seconds;
  d["budget_seconds"] = q.budget;
  d["compiler_starts"] = q.compiler_starts;
  nb::dict outcomes;
  for (size_t k = 0; k < jit::kOutcomes.size(); ++k) outcomes[text(jit::kOutcomes[k].text)] = q.outcomes[k];
  d["outcomes"] = outcomes;
  d["running"] = nb::none();
  if (q.running) {
    nb::dict r;
    r["label"] = text(q.running->label);
    r["phase"] = text(q.running->phase ? jit::kPhaseNames[static_cast<size_t>(*q.running->phase)] : std::string_view("starting"));
    r["seconds"] = q.running->seconds;
    r["estimate"] = q.running->estimate;
    d["running"] = r;
  }
  nb::list next;
  for (const auto& n : q.next) next.append(text(n.label));
  d["next"] = next;
  return d;
}

nb::list explain_list(const std::vector<CallExplanation>& calls) {
  nb::list out;
  for (const CallExplanation& c : calls) {
    nb::list choices;
    for (const auto& choice : c.choices) {
      nb::list kernels;
      for (const KernelVerdict& k : choice.kernels) {
        nb::dict d;
        d["kernel"] = text(k.kernel);
        d["chosen"] = k.chosen;
        d["cost_ns"] = k.cost_ns;
        d["reason"] = text(k.reason);
        d["through_copy"] = k.through_copy;
        kernels.append(d);
      }
      nb::dict d;
      d["inputs"] = texts(choice.inputs);
      d["kernels"] = kernels;
      choices.append(d);
    }
    nb::dict d;
    d["instruction"] = c.instruction;
    d["op"] = text(c.op);
    d["origins"] = texts(c.origins);
    d["choices"] = choices;
    out.append(d);
  }
  return out;
}

/// Over all functions, in the order in which a run makes the tensors.
nb::list scd_list(const VerifiedModule& verified) {
  nb::list out;
  const auto functions = static_cast<int32_t>(verified.module().functions.size());
  for (int32_t f = 0; f < functions; ++f) {
    const jit::FunctionView view(verified, f);
    for (const jit::TensorScd& t : declared_scd(view, find_regions(view)).tensors) {
      nb::list kinds;
      for (jit::AxisKind k : t.kinds) kinds.append(text(axis_kind_name(k)));
      nb::dict d;
      d["function"] = text(view.f.name);
      d["name"] = text(t.name);
      d["instruction"] = t.instruction;
      d["place"] = text(view.place(t.instruction));
      d["dims"] = texts(t.dims);
      d["kinds"] = kinds;
      d["counted"] = t.counted;
      d["broken"] = t.broken;
      d["scd"] = t.scd;
      d["reason"] = text(t.reason);
      d["mend"] = text(t.mend);
      d["text"] = text(to_string(t));
      out.append(d);
    }
  }
  return out;
}

nb::list scd_of_module(const PyModule& module) {
  VerifyResult v = verify(Module(module.module));
  if (!v.module) raise(to_status(v.errors));
  return scd_list(*v.module);
}

std::map<std::string, std::vector<int64_t>> sizes_in(const nb::dict& given) {
  std::map<std::string, std::vector<int64_t>> out;
  for (auto [name, shape] : given) {
    std::vector<int64_t>& sizes = out[nb::cast<std::string>(name)];
    for (nb::handle s : shape)
      if (!nb::try_cast(s, sizes.emplace_back())) raise(invalid_argument(std::string("input ") + nb::str(name).c_str() + ": expected sizes of 64 bits, found " + nb::repr(s).c_str()));
  }
  return out;
}

std::map<std::string, Extent> ranges_in(const nb::dict& given) {
  std::map<std::string, Extent> out;
  for (auto [name, range] : given) {
    const auto [least, most] = nb::cast<std::pair<int64_t, int64_t>>(range);
    out[nb::cast<std::string>(name)] = {least, most};
  }
  return out;
}

void make_code(PyExecutable& e, const nb::dict& sizes, const nb::dict& ranges, int32_t function) {
  const auto s = sizes_in(sizes);
  const auto r = ranges_in(ranges);
  Status status;
  {
    FreeGil free;
    status = e.executable().make_code(s, r, function);
  }
  unwrap(status);
}

/// How many entries there were.
size_t clear_code_cache() {
  const auto compiler = jit::find_compiler("");
  auto cache = jit::DiskCache::open({.folder = {}, .build = jit::code_build(compiler.ok() ? *compiler : std::string()), .create = false});
  if (!cache.ok() && cache.status().code() == StatusCode::kNotFound) return 0;
  return unwrap(std::move(cache))->clear();
}

nb::tuple disassembly(PyExecutable& e, int32_t function, int32_t region, const std::string& entry) {
  std::string listing, json;
  Status status;
  {
    FreeGil free;
    auto d = e.executable().disassembly(function, region, entry);
    status = d.status();
    if (d.ok()) {
      listing = jit::to_text(*d);
      json = jit::to_json(*d);
    }
  }
  unwrap(status);
  return nb::make_tuple(text(listing), text(json));
}

}  // namespace

void bind_reports(nb::module_& m, nb::class_<PyExecutable>& executable) {
  executable
      .def("jit_view", [](PyExecutable& e) {
        JitView view;
        {
          FreeGil free;  // the JIT thread may hold its lock for a while
          view = e.executable().jit_view();
        }
        return view_dict(view);
      })
      .def("disassembly", &disassembly, nb::arg("function") = -1, nb::arg("region") = -1, nb::arg("entry") = "", "The code of an entry: a listing, and the same as JSON.")
      .def("latency", [](PyExecutable& e) {
        Latencies all;
        for (const Latencies& tier : e.executable().latency()) all.add(tier);
        return all;
      })
      .def("jit_queue", [](PyExecutable& e) {
        nb::dict d = queue_dict(e.engine().jit_queue());
        d["engine"] = reinterpret_cast<uintptr_t>(&e.engine());  // programs that agree in it share the queue
        return d;
      })
      .def("explain", [](PyExecutable& e, int32_t function) { return explain_list(e.executable().explain(function)); }, nb::arg("function") = 0)
      .def("declared_scd", [](PyExecutable& e) { return scd_list(e.executable().verified()); })
      .def("shape_policy", [](PyExecutable& e) { return text(e.executable().shape_policy()); })
      .def("options", [](PyExecutable& e) { return options_dict(e.options()); })
      .def("remake_code", [](PyExecutable& e) { e.executable().remake_code(); })
      .def("warm_up", [](PyExecutable& e) {
        FreeGil free;
        e.executable().warm_up();
      })
      .def("make_code", &make_code, nb::arg("sizes"), nb::arg("ranges") = nb::dict(), nb::arg("function") = 0)
      .def("write_bundle", [](PyExecutable& e, const nb::bytes& path) { return unwrap(e.executable().write_bundle(path_of(path))); }, nb::arg("path"))
      .def("load_bundle", [](PyExecutable& e, const nb::bytes& path, bool trust_native) { unwrap(e.engine().load_bundle(path_of(path), trust_native)); }, nb::arg("path"),
           nb::arg("trust_native") = false);
  nb::class_<Latencies>(m, "Latencies")
      .def(nb::init<>())
      .def("add", nb::overload_cast<const Latencies&>(&Latencies::add), nb::arg("other"))
      .def("since", &Latencies::since, nb::arg("earlier"))
      .def("count", &Latencies::count)
      .def("percentile", &Latencies::percentile, nb::arg("p"), "Seconds.");
  m.def("metrics", [] {
    std::string found;
    {
      FreeGil free;
      found = observe::process_source().metrics();
    }
    return text(found);
  }, "What /metrics of a monitor serves: Prometheus text.");
  m.def("clear_code_cache", &clear_code_cache, "Removes the user's compiled code on disk; how many entries.");
  m.def("declared_scd", &scd_of_module, nb::arg("module"), "Declared SCD of a module that needn't be loaded: a dict for each tensor. Raises VerificationError.");
}

}  // namespace msvm::python
