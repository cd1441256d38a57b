// A trace for programs that draw it: editors.
#pragma once
#include <cstdio>

#include "observe/trace/trace_log.h"

namespace msvm::observe {

/// One line of JSON, padded with blanks to a multiple of 8 bytes, then the columns that it names, one after another, little-endian, each
/// padded to 8 bytes; a row for each event, by its begin. The line:
///   format      1
///   pid, began (ISO 8601, UTC), seconds, core_gflops, dropped, damage
///   events      how many rows
///   kinds, modes  names of the values of `kind` and `tier`
///   texts       kernels, entries, shapes, reasons: what `name` and `detail` count in; 0 is empty
///   programs    [{name, functions: [{name, instructions: [[mnemonic, operator, place, origins], …]}]}]; column `program` counts from 1, 0: none
///   outliers    [{event, usual_us, cause}], those that lost the most time first
///   summary     as `msvm trace summary --json`
///   columns     [{name, type, offset}]: f64, f32, u32, i32, u16, u8; offset in bytes behind the line
/// Times are in microseconds since the log began.
Status write_timeline(const TraceLog& log, std::FILE* out, size_t most_outliers = 200);

}  // namespace msvm::observe
