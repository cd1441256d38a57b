// Signals and random numbers.
#include <cstring>

#include "importers/onnx/handlers.h"

namespace msvm::onnx {
namespace {

Status dft(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  int64_t axis = n.opset < 20 ? 1 : -2;
  if (n.opset >= 20 && n.has(2)) {
    MSVM_ASSIGN_OR_RETURN(std::vector<int64_t> given, n.ints(2));
    if (given.size() != 1) return invalid_argument("axis must have one element");
    axis = given[0];
  } else {
    axis = n.int_attr("axis", axis);
  }
  std::vector<Dim> args;
  if (n.has(1)) {
    MSVM_ASSIGN_OR_RETURN(Dim length, one_size(n, 1));
    args.push_back(length);
  }
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("DFT"));
  attrs.set("axis", axis);
  return n.call_all("DFT", {x}, args, std::move(attrs));
}

Status stft(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg signal, n.tensor(0));
  MSVM_ASSIGN_OR_RETURN(Dim step, one_size(n, 1));
  std::vector<Reg> in{signal};
  Dim length;
  if (n.has(2)) {
    MSVM_ASSIGN_OR_RETURN(Reg window, n.ranked(2));
    if (n.shape(window).size() != 1) return invalid_argument("the window must be a list");
    in.push_back(window);
    length = n.shape(window)[0];
  }
  if (n.has(3)) { MSVM_ASSIGN_OR_RETURN(length, one_size(n, 3)); }
  if (!length.valid()) return invalid_argument("it has neither a window nor a frame length");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("STFT"));
  return n.call_all("STFT", in, {step, length}, std::move(attrs));
}

Status window(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Dim size, one_size(n, 0));
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for(n.op()));
  return n.call_all(n.op(), {}, {size}, std::move(attrs));
}

Status mel_weights(NodeImport& n) {
  std::vector<Dim> args;
  for (size_t i = 0; i < 3; ++i) {
    MSVM_ASSIGN_OR_RETURN(Dim d, one_size(n, i));
    args.push_back(d);
  }
  MSVM_ASSIGN_OR_RETURN(Reg lower, n.tensor(3));
  MSVM_ASSIGN_OR_RETURN(Reg upper, n.tensor(4));
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("MelWeightMatrix"));
  return n.call_all("MelWeightMatrix", {lower, upper}, args, std::move(attrs));
}

/// A key for the node: its seed if it has one, else its name. Every run draws the same numbers.
Result<Reg> random_key(NodeImport& n) {
  uint64_t key[2] = {0, 0x6d73766d};
  if (n.has_attr("seed")) {
    double seed = n.float_attr("seed", 0);
    std::memcpy(&key[0], &seed, sizeof seed);
  } else {
    key[0] = 0xcbf29ce484222325;
    for (char c : n.label()) key[0] = (key[0] ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  MSVM_ASSIGN_OR_RETURN(OwnedConst c, make_const("", DType::kU64, {2}));
  std::memcpy(c.bytes, key, sizeof key);
  return n.im.tensor(const_value(c.tensor));
}

Status random_call(NodeImport& n, const std::string& op, std::vector<Reg> in, const std::vector<Dim>& args, Attributes attrs) {
  MSVM_ASSIGN_OR_RETURN(Reg key, random_key(n));
  in.insert(in.begin(), key);
  MSVM_ASSIGN_OR_RETURN(std::vector<Reg> out, n.im.emitter().call(op, in, args, std::move(attrs), {true, true}));
  n.set(0, out[0]);
  return {};
}

Status random_of_shape(NodeImport& n) {
  std::vector<Dim> sizes;
  for (int64_t d : n.ints_attr("shape")) sizes.push_back(n.constant(d));
  n.attr("seed");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for(n.op()));
  return random_call(n, n.op(), {}, sizes, std::move(attrs));
}

Status random_like(NodeImport& n) {
  std::string op = n.op().substr(0, n.op().size() - 4);  // without "Like"
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  n.attr("seed");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for(op));
  if (!attrs.has("dtype")) attrs.set("dtype", n.fb().tensor_type(x).dtype);
  return random_call(n, op, {}, n.shape(x), std::move(attrs));
}

Status bernoulli(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  n.attr("seed");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("Bernoulli"));
  return random_call(n, "Bernoulli", {x}, {}, std::move(attrs));
}

Status multinomial(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  int64_t samples = n.int_attr("sample_size", 1);
  n.attr("seed");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("Multinomial"));
  return random_call(n, "Multinomial", {x}, {n.constant(samples)}, std::move(attrs));
}

constexpr HandlerRow kRows[] = {
    {"DFT", dft},
    {"STFT", stft},
    {"HannWindow", window},
    {"HammingWindow", window},
    {"BlackmanWindow", window},
    {"MelWeightMatrix", mel_weights},
    {"RandomUniform", random_of_shape},
    {"RandomNormal", random_of_shape},
    {"RandomUniformLike", random_like},
    {"RandomNormalLike", random_like},
    {"Bernoulli", bernoulli},
    {"Multinomial", multinomial},
};

}  // namespace

std::span<const HandlerRow> signal_handlers() { return kRows; }

}  // namespace msvm::onnx
