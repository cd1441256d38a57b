// Recurrent networks.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

/// `gates` times hidden rows in W and R; `activations` per direction; `states` of 1 (h) or 2 (h and c).
Status infer_recurrent(InferContext& c, int64_t gates, size_t activations, size_t states) {
  enum { kX, kW, kR, kB, kLens, kInitialH, kInitialC, kPeephole };
  for (size_t i : {size_t{kX}, size_t{kW}, size_t{kR}}) MSVM_RETURN_IF_ERROR(require_rank(c, i, 3));
  DimContext& m = c.dims();
  const Attributes& at = c.attrs();
  int64_t n = at.get_string("direction", "forward") == "bidirectional" ? 2 : 1;
  bool batch_first = at.get_int("layout", 0) != 0;
  const auto &x = c.input(kX).shape, &w = c.input(kW).shape, &r = c.input(kR).shape;
  Dim length = x[batch_first ? 1 : 0], batch = x[batch_first ? 0 : 1], directions = m.constant(n), hidden = r[2];
  if (at.has("hidden_size")) {
    Dim given = m.constant(at.get_int("hidden_size", 0));
    MSVM_RETURN_IF_ERROR(require_equal(c, hidden, given, "hidden_size is the last axis of R"));
    hidden = given;
  }
  Dim rows = m.mul(m.constant(gates), hidden);
  MSVM_RETURN_IF_ERROR(require_equal(c, w[0], directions, "axis 0 of W counts the directions"));
  MSVM_RETURN_IF_ERROR(require_equal(c, r[0], directions, "axis 0 of R counts the directions"));
  MSVM_RETURN_IF_ERROR(require_equal(c, w[1], rows, "axis 1 of W is hidden_size for each gate"));
  MSVM_RETURN_IF_ERROR(require_equal(c, r[1], rows, "axis 1 of R is hidden_size for each gate"));
  MSVM_RETURN_IF_ERROR(require_equal(c, w[2], x[2], "the last axis of W is that of X"));
  if (c.has_input(kB)) {
    MSVM_RETURN_IF_ERROR(require_rank(c, kB, 2));
    MSVM_RETURN_IF_ERROR(require_equal(c, c.input(kB).shape[0], directions, "axis 0 of B counts the directions"));
    MSVM_RETURN_IF_ERROR(
        require_equal(c, c.input(kB).shape[1], m.mul(m.constant(2), rows), "axis 1 of B holds two biases for each row of W"));
  }
  MSVM_RETURN_IF_ERROR(require_vector(c, kLens, batch, "sequence_lens has one length for each batch element"));
  std::vector<Dim> state = batch_first ? std::vector<Dim>{batch, directions, hidden} : std::vector<Dim>{directions, batch, hidden};
  for (size_t s = 0; s < states; ++s) {
    size_t i = s == 0 ? kInitialH : kInitialC;
    if (!c.has_input(i)) continue;
    MSVM_RETURN_IF_ERROR(require_rank(c, i, 3));
    for (size_t a = 0; a < 3; ++a)
      MSVM_RETURN_IF_ERROR(require_equal(c, c.input(i).shape[a], state[a],
                                         "initial states are [directions, batch, hidden_size] (layout 1: batch first)"));
  }
  if (states == 2 && c.has_input(kPeephole)) {
    MSVM_RETURN_IF_ERROR(require_rank(c, kPeephole, 2));
    MSVM_RETURN_IF_ERROR(require_equal(c, c.input(kPeephole).shape[0], directions, "axis 0 of P counts the directions"));
    MSVM_RETURN_IF_ERROR(
        require_equal(c, c.input(kPeephole).shape[1], m.mul(m.constant(3), hidden), "axis 1 of P is three times hidden_size"));
  }
  if (size_t k = at.get_strings("activations").size(); k > 0)
    MSVM_RETURN_IF_ERROR(require_list_length("activations", k, activations * static_cast<size_t>(n)));
  if (batch_first) {
    c.set_shape(0, {batch, length, directions, hidden});
  } else {
    c.set_shape(0, {length, directions, batch, hidden});
  }
  if (states == 2) c.set_shape(2, state);
  c.set_shape(1, std::move(state));
  return {};
}

Status infer_lstm(InferContext& c) { return infer_recurrent(c, 4, 3, 2); }
Status infer_gru(InferContext& c) { return infer_recurrent(c, 3, 2, 1); }
Status infer_rnn(InferContext& c) { return infer_recurrent(c, 1, 1, 1); }

}  // namespace

void add_rnn_ops(OpTable& table) {
  OpSchema rnn{
      .name = "RNN",
      .since = 22,
      .op_class = OpClass::kRecurrent,
      .inputs = {{"X", kFloats, 'T'},
                 {"W", kFloats, 'T'},
                 {"R", kFloats, 'T'},
                 {"B", kFloats, 'T', true},
                 {"sequence_lens", bit(DType::kI32), 0, true},
                 {"initial_h", kFloats, 'T', true}},
      .outputs = {{"Y", 'T'}, {"Y_h", 'T'}},
      .hazards = kIndexHazard,
      .attrs = {{.name = "activation_alpha",
                 .type = AttrType::kFloats,
                 .doc = "first parameters of activations that take any",
                 .fallback = "those of the operators"},
                {.name = "activation_beta",
                 .type = AttrType::kFloats,
                 .doc = "second parameters of activations that take any",
                 .fallback = "those of the operators"},
                {.name = "activations",
                 .type = AttrType::kStrings,
                 .choices = "Relu|Tanh|Sigmoid|Affine|LeakyRelu|ThresholdedRelu|ScaledTanh|HardSigmoid|Elu|Softsign|Softplus",
                 .doc = "functions of the gates, for each direction",
                 .fallback = "Tanh"},
                float_attr("clip", "none", "bound of what goes into the activations"),
                choice_attr("direction", "forward", "forward|reverse|bidirectional", "which way the sequence is read"),
                int_attr("hidden_size", "from R", 0, kNoLimit, "elements of a state"),
                int_attr("layout", "0", 0, 1, "0: [length, batch, ...], 1: [batch, length, ...]")},
      .infer = infer_rnn,
      .doc = "h = f(X W^T + h R^T + B) over a sequence; Y holds each step's h, Y_h the last."};
  OpSchema gru = rnn, lstm = rnn;
  table.add(std::move(rnn));

  gru.name = "GRU";
  gru.infer = infer_gru;
  gru.doc = "Gated recurrent unit: update gate z, reset gate r and candidate h, rows of W and R in this order.";
  gru.attrs[2].fallback = "Sigmoid, Tanh";
  gru.attrs.push_back(flag_attr("linear_before_reset", "0", "1 resets after the product with R"));
  table.add(std::move(gru));

  lstm.name = "LSTM";
  lstm.inputs.push_back({"initial_c", kFloats, 'T', true});
  lstm.inputs.push_back({"P", kFloats, 'T', true});
  lstm.outputs.push_back({"Y_c", 'T'});
  lstm.infer = infer_lstm;
  lstm.doc = "Long short-term memory: gates i, o, f and cell c, rows of W and R in this order; peepholes in P.";
  lstm.attrs[2].fallback = "Sigmoid, Tanh, Tanh";
  lstm.attrs.push_back(flag_attr("input_forget", "0", "1 makes the forget gate 1 - i"));
  table.add(std::move(lstm));
}

}  // namespace msvm
