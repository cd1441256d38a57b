#include "observe/debug/debugger.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>

#include "msvm/base/file.h"
#include "msvm/shape/npy.h"
#include "observe/debug/elements.h"
#include "observe/debug/evaluate.h"
#include "observe/debug/watch.h"

namespace msvm::observe::debug {
namespace {

Debugger::Impl* forked = nullptr;  // whose mutex is held over a fork

Status gone() { return unsupported("a forked process isn't debugged: start the debugger before the fork, in the parent"); }

/// A thread that waits, and the frame in it, as long as this lives.
class Held {
 public:
  static Result<Held> at(Debugger::Impl& d, FrameRef f) {
    if (d.gone.load()) return gone();
    Held h;
    h.thread_ = d.thread(f.thread);
    if (!h.thread_) return Status(StatusCode::kNotFound, fmt::format("there is no thread {} that has run a program", f.thread));
    h.lock_ = std::unique_lock(h.thread_->mutex);
    if (!h.thread_->stop) return invalid_argument(fmt::format("thread {} doesn't wait: pause it first", f.thread));
    const auto& runs = h.thread_->runs;
    if (f.depth < 0 || static_cast<size_t>(f.depth) >= runs.size()) return invalid_argument(fmt::format("frame {} of {}", f.depth, runs.size()));
    h.watch_ = runs[runs.size() - 1 - static_cast<size_t>(f.depth)];
    return h;
  }
  Watch& watch() const { return *watch_; }
  RunView& view() const { return watch_->view(); }
  Thread& thread() const { return *thread_; }

 private:
  std::shared_ptr<Thread> thread_;
  std::unique_lock<std::mutex> lock_;
  Watch* watch_ = nullptr;
};

std::string call_text(const RunView& view) {
  std::string text = "@" + view.code().name + "(";
  bool first = true;
  for (const msvm::Value& v : view.inputs()) {
    text += first ? "" : ", ";
    first = false;
    if (const auto* t = std::get_if<TensorValue>(&v)) text += to_string(t->meta);
    else if (const auto* i = std::get_if<int64_t>(&v)) text += fmt::format("{}", *i);
    else if (const auto* d = std::get_if<double>(&v)) text += real_text(*d);
    else text += std::get<bool>(v) ? "true" : "false";
  }
  return text + ")";
}

/// `next`: nothing of the instruction at `place` has run.
FrameInfo frame_of(const Watch& w, const Place& place, bool next) {
  const ProgramMap& p = w.program();
  const RunView& view = w.view();
  const Instr& i = view.instr(place.instruction);
  FrameInfo f;
  f.place = place;
  f.address = p.address(place.function, place.instruction);
  f.offset = static_cast<uint32_t>(f.address);
  f.program = p.name;
  f.function = view.code().name;
  f.opcode = instr_info(i.op).mnemonic;
  if (i.op == Opcode::kOpCall) f.op = i.text;
  f.call = call_text(view);
  const auto& o = p.origin(place.function, place.instruction);
  f.file = o.file;
  f.line = o.line;
  f.column = o.column;
  f.origins = o.origins;
  f.listing_line = p.line_of(place.function, place.instruction);
  if (const auto regions = view.regions(); !regions.empty()) f.region = regions[static_cast<size_t>(place.instruction)];
  if (const RegionEntry* e = view.entry(); e && (!next || w.native_stays())) f.entry = e->name;  // else a step goes into the region
  return f;
}

}  // namespace

uint64_t address_of(Place place) { return Debugger::process().address(place); }

Debugger::Debugger() : impl_(std::make_unique<Impl>()) {
  forked = impl_.get();
  // The child has one thread, and maybe a listener whose threads are gone: it is off there, and takes no lock any more.
  ::pthread_atfork([] { forked->mutex.lock(); }, [] { forked->mutex.unlock(); },
                   [] {
                     forked->gone.store(true);
                     forked->mutex.unlock();
                   });
}

Debugger& Debugger::process() {
  static Debugger& one = *new Debugger;  // threads may run programs while the process ends
  return one;
}

// --- programs ----------------------------------------------------------------------------------------------------------

Status Debugger::attach(Listener* listener) {
  Impl& m = *impl_;
  if (m.gone.load()) return gone();
  {
    std::lock_guard lock(m.gate);
    if (m.listener) return invalid_argument("a debugger is attached to this process already: detach it first");
    m.listener = listener;
  }
  std::vector<std::shared_ptr<Executable>> kept;
  std::lock_guard lock(m.mutex);
  m.attached = true;
  m.tidy();
  kept = m.put_hooks(true);
  m.publish();
  return {};
}

void Debugger::detach() {
  Impl& m = *impl_;
  if (m.gone.load()) return;
  std::vector<std::shared_ptr<Executable>> kept;
  {
    std::lock_guard lock(m.mutex);
    m.attached = false;
    m.held = false;
    m.stop_at_any_run = m.pause_any_run = m.pause_joining = false;
    m.breakpoints.clear();
    m.stops = {};
    m.native = Native::kStepDown;
    kept = m.put_hooks(false);
    m.publish();
    m.released.notify_all();
    for (const auto& t : m.threads) t->pause = t->stop_at_run = false;
  }
  for (const auto& t : m.all_threads()) {
    std::lock_guard lock(t->mutex);
    if (t->stop) t->command = Command::kGo;  // though somebody else attaches before it looks, for whom it runs already
    t->stop.reset();
    t->wake.notify_all();
  }
  std::unique_lock lock(m.gate);
  m.listener = nullptr;
  m.inside += listener_depth();
  m.quiet.notify_all();
  m.quiet.wait(lock, [&] { return m.calls <= m.inside; });
  m.inside -= listener_depth();
}

bool Debugger::attached() const { return !impl_->gone.load() && impl_->attached.load(); }

uint64_t Debugger::add(const std::shared_ptr<Executable>& program, const std::string& name) {
  Impl& m = *impl_;
  if (m.gone.load() || !program) return 0;
  std::shared_ptr<ProgramMap> p;
  std::vector<ProgramInfo> unloaded;
  std::vector<Breakpoint> changed;
  std::vector<std::shared_ptr<Executable>> kept;
  {
    std::lock_guard lock(m.mutex);
    kept = m.alive();
    for (const auto& known : m.programs)
      if (known->is(program)) return known->number;
    p = std::make_shared<ProgramMap>(m.next_program++, name, program);
    unloaded = m.tidy();
    m.programs.push_back(p);
    changed = m.breakpoints.rebind(m.programs);
    if (m.attached || m.held) m.put_hook(p, *program, true);
    m.publish();
  }
  m.tell([&](Listener& l) {
    for (const ProgramInfo& u : unloaded) l.program_unloaded(u);
    l.program_loaded(p->info());
    for (const Breakpoint& b : changed) l.breakpoint_changed(b);
  });
  return p->number;
}

std::vector<ProgramInfo> Debugger::programs() const {
  std::vector<ProgramInfo> out;
  if (impl_->gone.load()) return out;
  std::vector<std::shared_ptr<Executable>> kept;
  std::lock_guard lock(impl_->mutex);
  kept = impl_->alive();
  for (const auto& p : impl_->programs)
    if (p->loaded()) out.push_back(p->info());
  return out;
}

std::shared_ptr<Executable> Debugger::executable(uint64_t number) const {
  if (impl_->gone.load()) return nullptr;
  const auto p = impl_->program(number);
  return p ? p->executable() : nullptr;
}

uint64_t Debugger::address(Place place) const {
  if (impl_->gone.load()) return place.program << 32;
  const auto p = impl_->program(place.program);
  return p ? p->address(place.function, place.instruction) : place.program << 32;
}

Result<Listing> Debugger::listing(uint64_t number) const {
  if (impl_->gone.load()) return gone();
  const auto p = impl_->program(number);
  if (!p || !p->loaded()) return Status(StatusCode::kNotFound, fmt::format("there is no program {}", number));
  return p->listing();
}

uint64_t Debugger::listing_version(uint64_t number) const {
  if (impl_->gone.load()) return 0;
  const auto p = impl_->program(number);
  return p ? p->version.load() : 0;
}

Result<Place> Debugger::place_of(uint64_t address) const {
  if (impl_->gone.load()) return gone();
  if (const auto p = impl_->program(address >> 32))
    if (const auto place = p->at(static_cast<uint32_t>(address))) return *place;
  return Status(StatusCode::kNotFound, fmt::format("no program has an instruction at 0x{:x}", address));
}

// --- breakpoints -------------------------------------------------------------------------------------------------------

std::vector<Breakpoint> Debugger::set_source_breakpoints(const std::string& file, std::span<const LineBreakpoint> lines) {
  std::vector<BreakpointTable::Wanted> wanted;
  for (const LineBreakpoint& l : lines) wanted.push_back({BreakKind::kSource, file, 0, l.line, l.options});
  return impl_->gone.load() ? std::vector<Breakpoint>() : impl_->replace(BreakKind::kSource, file, 0, std::move(wanted));
}

std::vector<Breakpoint> Debugger::set_listing_breakpoints(uint64_t program, std::span<const LineBreakpoint> lines) {
  std::vector<BreakpointTable::Wanted> wanted;
  for (const LineBreakpoint& l : lines) wanted.push_back({BreakKind::kListing, {}, program, l.line, l.options});
  return impl_->gone.load() ? std::vector<Breakpoint>() : impl_->replace(BreakKind::kListing, {}, program, std::move(wanted));
}

std::vector<Breakpoint> Debugger::set_address_breakpoints(std::span<const AddressBreakpoint> addresses) {
  std::vector<BreakpointTable::Wanted> wanted;
  for (const AddressBreakpoint& a : addresses) wanted.push_back({BreakKind::kAddress, {}, a.address, 0, a.options});
  return impl_->gone.load() ? std::vector<Breakpoint>() : impl_->replace(BreakKind::kAddress, {}, 0, std::move(wanted));
}

std::vector<Breakpoint> Debugger::set_function_breakpoints(std::span<const FunctionBreakpoint> functions) {
  std::vector<BreakpointTable::Wanted> wanted;
  for (const FunctionBreakpoint& f : functions) wanted.push_back({BreakKind::kFunction, f.name, 0, 0, f.options});
  return impl_->gone.load() ? std::vector<Breakpoint>() : impl_->replace(BreakKind::kFunction, {}, 0, std::move(wanted));
}

void Debugger::clear_breakpoints() {
  if (impl_->gone.load()) return;
  std::lock_guard lock(impl_->mutex);
  impl_->breakpoints.clear();
  impl_->publish();
}

std::vector<Breakpoint> Debugger::breakpoints() const {
  if (impl_->gone.load()) return {};
  std::lock_guard lock(impl_->mutex);
  return impl_->breakpoints.all();
}

std::vector<int32_t> Debugger::source_lines(const std::string& file) const {
  std::set<int32_t> lines;
  if (impl_->gone.load()) return {};
  std::vector<std::shared_ptr<Executable>> kept;
  std::lock_guard lock(impl_->mutex);
  kept = impl_->alive();
  for (const auto& p : impl_->programs)
    for (const auto& f : p->functions())
      for (uint32_t origin : f.origin)
        if (const auto& o = f.origins[origin]; o.line > 0 && same_file(o.file, file)) lines.insert(o.line);
  return {lines.begin(), lines.end()};
}

void Debugger::set_stops(const Stops& stops) {
  if (impl_->gone.load()) return;
  std::lock_guard lock(impl_->mutex);
  impl_->stops = stops;
  impl_->publish();
}

Stops Debugger::stops() const {
  if (impl_->gone.load()) return {};
  std::lock_guard lock(impl_->mutex);
  return impl_->stops;
}

void Debugger::set_native(Native native) {
  if (impl_->gone.load()) return;
  std::lock_guard lock(impl_->mutex);
  impl_->native = native;
  impl_->publish();
}

Native Debugger::native() const {
  if (impl_->gone.load()) return Native::kStepDown;
  std::lock_guard lock(impl_->mutex);
  return impl_->native;
}

// --- control -----------------------------------------------------------------------------------------------------------

namespace {

Status no_thread(ThreadId id) { return {StatusCode::kNotFound, fmt::format("there is no thread {} that has run a program", id)}; }

Status command(Debugger::Impl& m, ThreadId id, Command c) {
  if (m.gone.load()) return gone();
  const auto t = m.thread(id);
  if (!t) return no_thread(id);
  std::lock_guard lock(t->mutex);
  if (!t->stop) return invalid_argument(fmt::format("thread {} doesn't wait", id));
  t->command = c;
  t->wake.notify_all();
  return {};
}

}  // namespace

Status Debugger::resume(ThreadId id) {
  if (id != kAnyThread) return command(*impl_, id, Command::kGo);
  if (impl_->gone.load()) return gone();
  impl_->pause_joining = false;
  for (const auto& t : impl_->all_threads()) (void)command(*impl_, t->id, Command::kGo);  // those that wait
  return {};
}

Status Debugger::step(ThreadId id, Step step) {
  return command(*impl_, id, step == Step::kIn ? Command::kIn : step == Step::kOver ? Command::kOver : Command::kOut);
}

Status Debugger::pause(ThreadId id, bool on) {
  if (impl_->gone.load()) return gone();
  if (id != kAnyThread) {
    const auto t = impl_->thread(id);
    if (!t) return no_thread(id);
    t->pause = on;
    return {};
  }
  const auto all = impl_->all_threads();
  bool any_runs = false;
  for (const auto& t : all) {
    std::lock_guard lock(t->mutex);
    any_runs |= !t->runs.empty();
    if (!on || (!t->runs.empty() && !t->stop)) t->pause = on;
  }
  if (on && !any_runs)  // between two runs
    for (const auto& t : all) t->pause = true;
  impl_->pause_any_run = on && all.empty();
  impl_->pause_joining = on;
  if (!on) stop_at_next_run(kAnyThread, false);
  return {};
}

void Debugger::stop_at_next_run(ThreadId id, bool on) {
  if (impl_->gone.load()) return;
  if (id == kAnyThread) impl_->stop_at_any_run = on;
  else if (const auto t = impl_->thread(id)) t->stop_at_run = on;
}

Status Debugger::cancel(ThreadId id) {
  if (impl_->gone.load()) return gone();
  const auto t = impl_->thread(id);
  if (!t) return no_thread(id);
  t->cancel = true;
  std::lock_guard lock(t->mutex);
  t->wake.notify_all();
  return {};
}

void Debugger::hold_runs() {
  if (impl_->gone.load()) return;
  std::vector<std::shared_ptr<Executable>> kept;
  std::lock_guard lock(impl_->mutex);
  impl_->held = true;
  kept = impl_->put_hooks(true);
}

void Debugger::release_runs() {
  if (impl_->gone.load()) return;
  std::vector<std::shared_ptr<Executable>> kept;
  std::lock_guard lock(impl_->mutex);
  impl_->held = false;
  if (!impl_->attached) kept = impl_->put_hooks(false);
  impl_->released.notify_all();
}

// --- what is there -----------------------------------------------------------------------------------------------------

std::vector<ThreadInfo> Debugger::threads() const {
  std::vector<ThreadInfo> out;
  if (impl_->gone.load()) return out;
  for (const auto& t : impl_->all_threads()) {
    std::lock_guard lock(t->mutex);
    if (!t->system_id) continue;  // it hasn't run anything yet
    out.push_back({t->id, t->name, t->system_id, t->handle, !t->runs.empty(), t->stop});
  }
  return out;
}

ThreadId Debugger::this_thread() const {
  if (impl_->gone.load()) return 0;
  if (const auto t = impl_->this_thread(false)) return t->id;
  const auto handle = static_cast<uint64_t>(::pthread_self());
  for (const auto& t : impl_->all_threads())
    if (t->handle == handle) return t->id;
  return 0;
}

ThreadId Debugger::thread_of(uint64_t handle) {
  if (impl_->gone.load()) return 0;
  std::lock_guard lock(impl_->mutex);
  return impl_->make_thread(handle)->id;
}

Result<std::vector<FrameInfo>> Debugger::frames(ThreadId id) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, id));
  std::vector<FrameInfo> out;
  const auto& runs = h.thread().runs;
  const Stop& stop = *h.thread().stop;
  const bool next = stop.reason != StopReason::kFailure && stop.reason != StopReason::kFallback && stop.reason != StopReason::kNan;
  for (size_t k = runs.size(); k-- > 0;) {
    const bool top = k + 1 == runs.size();
    out.push_back(frame_of(*runs[k], top ? stop.place : runs[k]->place(), top && next));
  }
  return out;
}

Result<Registers> Debugger::registers(FrameRef frame, int32_t first, int32_t count) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  Registers out;
  out.place = h.watch().place();
  out.total = static_cast<int32_t>(h.view().code().regs.size());
  const RegisterReader reader = h.watch().reader();
  const int64_t end = std::min<int64_t>(out.total, int64_t{std::max(first, 0)} + std::max(count, 0));
  for (int64_t r = std::max(first, 0); r < end; ++r) out.registers.push_back(reader.read(static_cast<Reg>(r)));
  return out;
}

Result<std::vector<SymbolView>> Debugger::symbols(FrameRef frame) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  return symbols_of(h.view());
}

Result<std::vector<ConstantView>> Debugger::constants(FrameRef frame) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  return constants_of(h.view());
}

Result<std::vector<BufferView>> Debugger::buffers(FrameRef frame) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  return buffers_of(h.view());
}

Result<std::optional<CallView>> Debugger::call(FrameRef frame) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  const auto program = h.watch().program().executable();
  if (!program) return Status(StatusCode::kNotFound, "the program is being unloaded");
  return call_of(h.watch().reader(), *program);
}

Result<Value> Debugger::evaluate(FrameRef frame, std::string_view expression) const {
  MSVM_ASSIGN_OR_RETURN(Expression e, parse(expression));
  if (frame.thread == kAnyThread) return debug::evaluate(e, nullptr);
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  return debug::evaluate(e, &h.view());
}

std::vector<Completion> Debugger::completions(FrameRef frame, std::string_view text, int32_t column) const {
  const auto end = static_cast<size_t>(std::clamp<int64_t>(column, 0, static_cast<int64_t>(text.size())));
  size_t begin = end;
  auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin, end - begin);
  std::vector<Completion> out;
  auto offer = [&](std::string_view label, std::string insert, std::string detail) {
    if (!label.starts_with(word)) return;
    out.push_back({std::string(label), std::move(insert), std::move(detail), static_cast<int32_t>(begin), static_cast<int32_t>(end - begin)});
  };
  const bool after_dot = begin > 0 && text[begin - 1] == '.';
  auto held = frame.thread == kAnyThread ? Result<Held>(invalid_argument("no frame")) : Held::at(*impl_, frame);
  if (held.ok() && !after_dot) {
    constexpr size_t kMostOffered = 200;
    const RunView& view = held->view();
    const DimContext& dims = *view.program().module().dims;
    std::set<std::string> seen;
    for (size_t r = 0; r < view.code().regs.size() && out.size() < kMostOffered; ++r) {
      const Register& reg = view.code().regs[r];
      if (view.look(static_cast<Reg>(r)).state == RegisterState::kUnset) continue;
      const std::string type = to_string(reg.type, dims);
      offer(fmt::format("R{}", r), fmt::format("R{}", r), type);
      const bool plain = !reg.name.empty() && !std::isdigit(static_cast<unsigned char>(reg.name[0])) && std::all_of(reg.name.begin(), reg.name.end(), in_name);
      if (!reg.name.empty() && seen.insert(reg.name).second) offer(reg.name, plain ? reg.name : "`" + reg.name + "`", type);
    }
    for (const SymbolView& s : symbols_of(view))
      if (seen.insert(s.name).second) offer(s.name, s.name, s.bound ? fmt::format("symbol, {}", s.value) : "symbol, not bound yet");
  }
  for (const FunctionDoc& f : functions()) offer(f.name, after_dot ? std::string(f.name) : std::string(f.name) + "(", std::string(f.detail));
  if (!after_dot)
    for (const std::string_view word_of : {"and", "or", "not", "true", "false"}) offer(word_of, std::string(word_of), "");
  return out;
}

Result<RegisterView> Debugger::set_scalar(FrameRef frame, Reg reg, std::string_view text) {
  MSVM_ASSIGN_OR_RETURN(Expression e, parse(text));
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  const auto& regs = h.view().code().regs;
  if (reg < 0 || static_cast<size_t>(reg) >= regs.size()) return invalid_argument(fmt::format("there is no register R{}: there are R0 to R{}", reg, regs.size() - 1));
  MSVM_ASSIGN_OR_RETURN(Value v, debug::evaluate(e, &h.view()));
  const RegKind kind = regs[static_cast<size_t>(reg)].type.kind;
  int64_t bits = 0;
  bool fits = false;
  if (kind == RegKind::kI64 && v.kind == Value::Kind::kInt) {
    fits = true;
    bits = v.integer;
  } else if (kind == RegKind::kF64 && (v.kind == Value::Kind::kFloat || v.kind == Value::Kind::kInt)) {
    fits = true;
    bits = std::bit_cast<int64_t>(v.kind == Value::Kind::kFloat ? v.real : static_cast<double>(v.integer));
  } else if (kind == RegKind::kBool && v.kind == Value::Kind::kBool) {
    fits = true;
    bits = v.boolean;
  }
  if (!fits && (kind == RegKind::kI64 || kind == RegKind::kF64 || kind == RegKind::kBool)) return invalid_argument(fmt::format("R{} is a {}, '{}' gives a {}", reg, kind_name(kind), text, v.type));
  MSVM_RETURN_IF_ERROR(h.view().set_scalar(reg, bits));
  RegisterView out = h.watch().reader().read(reg);
  out.changed = true;
  return out;
}

Result<TensorCopy> Debugger::tensor(FrameRef frame, std::string_view expression, std::string_view slice, int64_t max) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  MSVM_ASSIGN_OR_RETURN(Part p, tensor_part(expression, slice, h.view()));
  return copy_of(p.meta, std::max<int64_t>(max, 0));
}

Result<int64_t> Debugger::save_npy(FrameRef frame, std::string_view expression, std::string_view slice, const std::string& path) const {
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, frame));
  MSVM_ASSIGN_OR_RETURN(Part p, tensor_part(expression, slice, h.view()));
  if (p.meta.dtype == DType::kString) return unsupported("texts can't be saved as .npy");
  std::string out = npy_header(p.meta.dtype, p.meta.dims());
  const auto size = static_cast<size_t>(dtype_bytes(p.meta.dtype));
  out.reserve(out.size() + static_cast<size_t>(p.meta.elements()) * size);
  for_each_element(p.meta, [&](const std::byte* at) {
    out.append(reinterpret_cast<const char*>(at), size);
    return true;
  });
  MSVM_RETURN_IF_ERROR(write_file_atomically(path, out));
  return static_cast<int64_t>(out.size());
}

Result<std::string> Debugger::read_memory(ThreadId id, uint64_t address, int64_t count) const {
  constexpr int64_t kMost = 1 << 20;
  MSVM_ASSIGN_OR_RETURN(Held h, Held::at(*impl_, id));
  for (const Watch* w : h.thread().runs) {
    const RunView& view = w->view();
    for (size_t k = 0; k < view.code().regs.size(); ++k) {
      if (view.code().regs[k].type.kind != RegKind::kTensor) continue;
      const auto r = static_cast<Reg>(k);
      const TensorMeta& m = view.tensor(r);
      if (!m.data || m.device.kind != DeviceKind::kCpu || m.dtype == DType::kString || !m.dense() || !view.look(r).readable()) continue;
      const auto begin = reinterpret_cast<uintptr_t>(m.data), end = begin + static_cast<uintptr_t>(m.elements() * dtype_bytes(m.dtype));
      if (address < begin || address >= end) continue;
      const auto n = std::min<uint64_t>(end - address, static_cast<uint64_t>(std::clamp<int64_t>(count, 0, kMost)));
      return std::string(reinterpret_cast<const char*>(address), n);
    }
  }
  return Status(StatusCode::kNotFound, fmt::format("no live tensor lies at 0x{:x}", address));
}

}  // namespace msvm::observe::debug
