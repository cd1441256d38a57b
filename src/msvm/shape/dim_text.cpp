#include <fmt/format.h>

#include <iterator>

#include "msvm/base/checked.h"
#include "msvm/shape/dim_impl.h"
#include "msvm/shape/integer.h"
#include "msvm/shape/quote.h"

namespace msvm {
namespace {

class Writer {
 public:
  explicit Writer(const DimContext& c) : context_(c) {}

  void dim(Dim d) {
    if (!d.valid()) {
      out_ += "<invalid>";
    } else if (d.is_const()) {
      fmt::format_to(std::back_inserter(out_), "{}", d.value());
    } else if (d.node()->op == DimOp::kSum) {
      sum(DimPolynomial(d), d.node()->constant);
    } else {
      factor(d);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void sum(const DimPolynomial& p, int64_t constant) {
    bool first = true;
    for (const DimTerm& t : p.terms) {
      sign(t.coefficient, first);
      if (magnitude(t.coefficient) != 1) fmt::format_to(std::back_inserter(out_), "{}*", magnitude(t.coefficient));
      for (size_t i = 0; i < t.factors.size(); ++i) {
        if (i > 0) out_ += '*';
        factor(t.factors[i]);
      }
      first = false;
    }
    if (constant == 0 && !first) return;
    sign(constant, first);
    fmt::format_to(std::back_inserter(out_), "{}", magnitude(constant));
  }

  void sign(int64_t v, bool first) {
    if (first) {
      if (v < 0) out_ += '-';
    } else {
      out_ += v < 0 ? " - " : " + ";
    }
  }

  void factor(Dim d) {
    const DimNode& n = *d.node();
    if (n.op == DimOp::kSymbol) {
      const std::string& name = context_.symbol_info(n.symbol).name;
      out_ += is_plain_name(name) ? name : quoted(name);
      return;
    }
    // floordiv(x + c - 1, c) is how ceildiv(x, c) is kept
    if (n.op == DimOp::kFloorDiv && n.b.is_const() && n.b.value() > 1 && !n.a.is_const()) {
      DimPolynomial p(n.a);
      if (p.constant == n.b.value() - 1) {
        out_ += "ceildiv(";
        sum(p, 0);
        out_ += ", ";
        dim(n.b);
        out_ += ')';
        return;
      }
    }
    out_ += dim_op_name(n.op);
    out_ += '(';
    operands(n.op, d);
    out_ += ')';
  }

  // min, max and bcast chains read as one call.
  void operands(DimOp op, Dim d) {
    const DimNode& n = *d.node();
    dim(n.a);
    out_ += ", ";
    bool flat = op == DimOp::kMin || op == DimOp::kMax || op == DimOp::kBroadcast;
    if (flat && n.b.node() && n.b.node()->op == op) {
      operands(op, n.b);
    } else {
      dim(n.b);
    }
  }

  const DimContext& context_;
  std::string out_;
};

}  // namespace

std::string_view dim_op_name(DimOp op) {
  switch (op) {
    case DimOp::kFloorDiv: return "floordiv";
    case DimOp::kCeilDiv: return "ceildiv";
    case DimOp::kMod: return "mod";
    case DimOp::kMin: return "min";
    case DimOp::kMax: return "max";
    case DimOp::kBroadcast: return "bcast";
    case DimOp::kBigConst:
    case DimOp::kSymbol:
    case DimOp::kSum: break;
  }
  return "?";
}

std::string DimContext::to_string(Dim d) const {
  Writer w(*this);
  w.dim(d);
  return w.take();
}

}  // namespace msvm
