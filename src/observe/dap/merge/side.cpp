#include "observe/dap/merge/side.h"

namespace msvm::observe::dap::merge {
namespace {

constexpr const char* kNumbers[] = {"frameId", "variablesReference", "sourceReference"};

template <class F> void each_number(Json& object, const char* name, F change) {
  if (const auto at = object.find(name); at != object.end() && at->is_number_integer()) *at = change(at->get<int64_t>());
}

}  // namespace

void ids_out(Side side, Json& body) {
  if (!body.is_object()) return;
  const auto out = [&](int64_t id) { return id_out(side, id); };
  for (const char* name : kNumbers) each_number(body, name, out);
  if (const auto source = body.find("source"); source != body.end() && source->is_object()) each_number(*source, "sourceReference", out);
  for (const char* list : {"stackFrames", "scopes", "variables", "sources"}) {
    const auto rows = body.find(list);
    if (rows == body.end() || !rows->is_array()) continue;
    for (Json& row : *rows) {
      if (!row.is_object()) continue;
      if (std::string_view(list) == "stackFrames") each_number(row, "id", out);
      ids_out(side, row);
    }
  }
}

void ids_in(Json& arguments) {
  if (!arguments.is_object()) return;
  for (const char* name : kNumbers) each_number(arguments, name, id_in);
  if (const auto source = arguments.find("source"); source != arguments.end() && source->is_object()) each_number(*source, "sourceReference", id_in);
}

std::optional<Side> side_named(const Json& arguments) {
  if (!arguments.is_object()) return {};
  for (const char* name : kNumbers)
    if (const auto at = arguments.find(name); at != arguments.end() && at->is_number_integer() && at->get<int64_t>() > 0) return side_of(at->get<int64_t>());
  if (const auto source = arguments.find("source"); source != arguments.end()) return side_named(*source);
  return {};
}

}  // namespace msvm::observe::dap::merge
