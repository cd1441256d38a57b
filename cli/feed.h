// The inputs of `msvm run`: files, or shapes filled with seeded numbers.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::cli {

using Shapes = std::map<std::string, std::vector<int64_t>>;  // input name -> sizes

/// "x=1x3x480x640" or, for a program with one input, "1x3x480x640"; "x=scalar" is rank 0.
Result<Shapes> parse_shapes(const std::vector<std::string>& specs, const Function& f);
/// One step per line (or per `;`): the shapes of all inputs, separated by blanks. `text` is a file's content or the value itself.
Result<std::vector<Shapes>> parse_stream(const std::string& text, const Function& f);
/// "x=0:30522" -> bounds of the numbers an input is filled with.
Result<std::map<std::string, std::pair<double, double>>> parse_ranges(const std::vector<std::string>& specs, const Function& f);

std::string to_string(const Shapes& s);

/// Inputs in the function's order. Those with a file take it, the others are filled: floats in [-1, 1), integers in
/// [0, 10), bools at random, or within `ranges`; the same seed and shape give the same numbers.
Result<std::vector<Value>> make_inputs(const Function& f, const Shapes& shapes, const std::map<std::string, TensorValue>& files,
                                       const std::map<std::string, std::pair<double, double>>& ranges, uint64_t seed, Engine& engine);

}  // namespace msvm::cli
