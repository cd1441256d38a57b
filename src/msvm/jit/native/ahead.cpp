// Code before anything ran: for sizes that somebody names, and as a file for other processes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "msvm/jit/native/native_program.h"

namespace msvm::jit {
namespace {

/// The box of a signature that begins with the region's own one, "jit_cache_237a4b1c"; none if it is of something else.
std::optional<Box> parse_box(std::string_view signature, std::string_view own, const Region& region, const DimContext& dims) {
  if (!signature.starts_with(own)) return {};
  signature.remove_prefix(own.size());
  Box box;
  auto number = [&](int64_t& v) {
    const auto [end, error] = std::from_chars(signature.data(), signature.data() + signature.size(), v);
    if (error != std::errc()) return false;
    signature.remove_prefix(static_cast<size_t>(end - signature.data()));
    return true;
  };
  auto skip = [&](std::string_view text) {
    const bool there = signature.starts_with(text);
    if (there) signature.remove_prefix(text.size());
    return there;
  };
  for (size_t k = 0; k < region.symbols.size(); ++k) {
    Extent e;
    if (!skip("_") || !skip(symbol_name(region, k, dims))) return {};
    if (!skip("*")) {
      if (!number(e.min)) return {};
      e.max = e.min;
      if (skip("-") && !number(e.max)) return {};
    }
    box.extents.push_back(e);
  }
  return signature.empty() ? std::optional(std::move(box)) : std::nullopt;
}

}  // namespace

// Boxes of bundles are there from the start: somebody chose them, so no habit has to show first.
void NativeProgram::take_from_bundles(int32_t function) {
  const auto labels = jit_->kept().in_bundles();
  FunctionJit& f = *functions_[static_cast<size_t>(function)];
  for (int32_t r = 0; !labels.empty() && r < static_cast<int32_t>(f.regions.size()); ++r) {
    RegionJit& region = f.regions[static_cast<size_t>(r)];
    // The region's own part of the name, before the box.
    const Box all{std::vector<Extent>(region.region->symbols.size())};
    const std::string box_text = jit::to_string(all, *region.region, f.view->dims()), whole = signature(f, r, all);
    const std::string own = whole.substr(0, whole.size() - box_text.size() - !box_text.empty());
    for (auto at = labels.lower_bound(own); at != labels.end() && at->first.starts_with(own); ++at) {
      auto box = parse_box(at->first, own, *region.region, f.view->dims());
      if (!box || !box->fixes_something()) continue;
      // Names only show what code is for; the request says it.
      const std::string text = loops::print(specialise(region.lowered, *f.view, *region.region, *box));
      const auto wanted = encode_request({jit_->options().target.isa, jit_->flags(), text});
      if (std::string_view(reinterpret_cast<const char*>(wanted.data()), wanted.size()) != at->second) continue;
      region.trigger->add_entry(*box);
      request(function, r, std::move(*box), 2);
    }
  }
}

// As the trigger would have it, so that runs ask for the same code later.
Box NativeProgram::box_for(const FunctionJit& f, int32_t region, const InputSizes& sizes, const std::map<std::string, Extent>& ranges) const {
  const Region& r = *f.regions[static_cast<size_t>(region)].region;
  Box box{std::vector<Extent>(r.symbols.size())};
  if (const auto values = entry_values(r, sizes)) {
    TriggerOptions one_run = trigger_options();
    one_run.jit_threshold = 1;
    one_run.scd_threshold = 0;
    one_run.plain_counter = false;
    box = Trigger(r, f.view->dims(), one_run).run(*values).box;
  } else {
    for (size_t k = 0; k < r.symbols.size(); ++k)
      if (const auto value = sizes.value(r.symbols[k]); value && !(k < kMaxEntrySymbols && (r.free >> k & 1))) box.extents[k] = Extent::value(*value);
  }
  for (size_t k = 0; k < r.symbols.size(); ++k)
    if (const auto at = ranges.find(symbol_name(r, k, f.view->dims())); at != ranges.end()) box.extents[k] = at->second;
  return box;
}

Status NativeProgram::make(int32_t function, const std::map<std::string, std::vector<int64_t>>& sizes, const std::map<std::string, Extent>& ranges) {
  const auto index = static_cast<size_t>(function);
  if (function < 0 || index >= states_.size()) return invalid_argument(fmt::format("there is no function {}", function));
  MSVM_ASSIGN_OR_RETURN(const InputSizes known, InputSizes::bind(FunctionView(program_->verified(), function), sizes));
  if (!at_home()) return unsupported("the child of a fork makes no code");
  warm_up();
  std::vector<std::pair<int32_t, Box>> boxes;
  {
    std::lock_guard lock(mutex_);
    const FunctionJit* f = functions_[index].get();
    std::string names;
    for (int32_t r = 0; f && r < static_cast<int32_t>(f->regions.size()); ++r) {
      const Region& region = *f->regions[static_cast<size_t>(r)].region;
      for (size_t k = 0; k < region.symbols.size(); ++k) {
        const std::string name = symbol_name(region, k, f->view->dims());
        if ((" " + names + ",").find(" " + name + ",") == std::string::npos) names += (names.empty() ? "" : ", ") + name;
      }
      if (options_.tier1) boxes.emplace_back(r, Box{std::vector<Extent>(region.symbols.size())});
      if (Box box = box_for(*f, r, known, ranges); box.fixes_something() && options_.jit_level >= 2 && options_.tier2) boxes.emplace_back(r, std::move(box));
    }
    for (const auto& [name, extent] : ranges) {
      if ((" " + names + ",").find(" " + name + ",") == std::string::npos) return invalid_argument(fmt::format("no region has a symbol {}; there are: {}", name, names.empty() ? "none" : names));
      if (extent.min > extent.max) return invalid_argument(fmt::format("the range of {} is empty: {} to {}", name, extent.min, extent.max));
    }
  }
  jit_->queue().post(owner_, Urgency::kWaited, [this, function, boxes] {
    std::lock_guard lock(mutex_);
    for (const auto& [r, box] : boxes) {
      RegionJit& region = functions_[static_cast<size_t>(function)]->regions[static_cast<size_t>(r)];
      const bool there = std::any_of(region.entries.begin(), region.entries.end(), [&](const Entry& e) { return e.box == box; });
      if (there || !box.fixes_something()) continue;
      region.trigger->add_entry(box);
      request(function, r, box, 2);
    }
  });
  jit_->drain();
  std::lock_guard lock(mutex_);
  for (const auto& [r, box] : boxes) {
    const FunctionJit& f = *functions_[index];
    const auto& entries = f.regions[static_cast<size_t>(r)].entries;
    if (std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.box == box; })) continue;
    const std::string sizes_text = jit::to_string(box, *f.regions[static_cast<size_t>(r)].region, f.view->dims());
    if (failures_ == 0) return resource_limit(fmt::format("{} has no code for {}: there are more entries than are kept ({} evicted)", region_name(f, r), sizes_text, evicted_));
    return unsupported(fmt::format("{} has no code for {}: {}", region_name(f, r), sizes_text, slow_path_.empty() ? "it failed" : slow_path_.back().reason));
  }
  return {};
}

Result<size_t> NativeProgram::write_bundle(const std::string& path) const {
  if (!at_home()) return unsupported("the child of a fork makes no code");
  std::vector<BundleEntry> images;
  size_t distinct = 0;
  {
    std::lock_guard lock(mutex_);
    std::vector<std::string_view> seen;  // images are shared, but each box has its name in the file
    for (const auto& f : functions_) {
      if (!f) continue;
      for (const RegionJit& r : f->regions)
        for (const Entry& e : r.entries) {
          const auto image = e.key.empty() ? nullptr : jit_->find_image(e.key);
          if (!image) continue;
          if (std::find(seen.begin(), seen.end(), e.key) == seen.end()) seen.push_back(e.key);
          images.push_back({encode_request({jit_->options().target.isa, jit_->flags(), e.key}), e.entry->name, std::make_shared<const std::vector<std::byte>>(image->encode())});
        }
    }
    distinct = seen.size();
  }
  MSVM_RETURN_IF_ERROR(jit_->kept().write(path, images));
  return distinct;
}

}  // namespace msvm::jit
