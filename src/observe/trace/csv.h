// A trace as a table for other programs.
#pragma once
#include <cstdio>
#include <string_view>
#include <vector>

#include "observe/trace/trace_log.h"

namespace msvm::observe {

struct ColumnInfo {
  std::string_view name, doc;
};
const std::vector<ColumnInfo>& trace_columns();

/// RFC 4180, UTF-8, with a header line; dots in numbers whatever the locale. A row for each event.
Status write_csv(const TraceLog& log, std::FILE* out);

}  // namespace msvm::observe
