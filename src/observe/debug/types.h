// What the inspector says of a program that is debugged: plain values, no pointers into a run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/engine/engine.h"

namespace msvm::observe::debug {

/// Of a thread that has run a debugged program: from 1, the same as long as the thread lives. 0: any.
using ThreadId = int32_t;
constexpr ThreadId kAnyThread = 0;

/// An instruction of a program. Programs have numbers from 0 in the order in which they were added; none is given twice.
struct Place {
  uint64_t program = 0;
  int32_t function = -1, instruction = -1;
  bool operator==(const Place&) const = default;
};

/// A frame of a stopped thread: 0 the innermost run, 1 the run that called it (through an operator of the host), ...
struct FrameRef {
  FrameRef(ThreadId t, int d = 0) : thread(t), depth(d) {}  // NOLINT(google-explicit-constructor)
  ThreadId thread;
  int depth;
};

enum class StopReason : uint8_t { kEntry, kStep, kBreakpoint, kInstructionBreakpoint, kPause, kFailure, kFallback, kNan };

/// Why and where a thread waits. kFailure, kFallback, kNan: `place` is the instruction that failed or gave the result, which has run; else the one
/// that comes next.
struct Stop {
  ThreadId thread = 0;
  StopReason reason{};
  std::string text;                // "shape mismatch: axis 1 has size 4, expected 3"; of a breakpoint whose condition can't be evaluated, why
  std::string fix;                 // what would mend it; empty: nothing to say
  std::vector<int> breakpoints;    // ids
  Place place;
};

enum class Step : uint8_t {
  kIn,    // to the next instruction, within regions, too: they are interpreted
  kOver,  // the same, but a region with native code is passed as one
  kOut,   // to the end of the run
};

enum class Native : uint8_t {
  kStepDown,  // a region is interpreted while there is something in it to stop at: a step, a breakpoint, the stop at NaN
  kStay,      // regions run in native code where they have it; a breakpoint within stops at the region's first instruction
};

/// What a run stops at besides breakpoints.
struct Stops {
  bool failure = false;   // the run is about to fail; registers are as they were
  bool fallback = false;  // a kernel is missing and another served, or native code didn't serve a region that has some
  bool nan = false;       // a call gave NaN or Inf
  bool entry = false;     // the first instruction of each run
};

struct ProgramInfo {
  uint64_t program = 0;
  std::string name;
  uint64_t begin = 0, end = 0;  // addresses
  bool loaded = true;           // false: it is gone
};

/// A line of a program's listing; counted from 1 where a number stands for one.
struct ListingLine {
  std::string text;
  int32_t function = -1, instruction = -1;  // -1: none stands on it
  uint64_t address = 0;                     // of the instruction
  uint32_t offset = 0;                      // in the module's code section
  int32_t region = -1;                      // of the function
  int tier = 0;                             // of the best entry of its region: 0 interpreted, 1 any sizes, 2 specialised
  std::string signature;                    // of that entry: "jit_1920x1080"
  std::string file;                         // where it comes from; empty: not known
  int32_t line = 0;
  std::vector<std::string> origins;
};

struct Listing {
  uint64_t program = 0;
  std::string name;
  uint64_t version = 0;  // rises when tiers change
  std::vector<ListingLine> lines;
};

// --- breakpoints -------------------------------------------------------------------------------------------------------

/// What a breakpoint does when control comes by.
struct BreakpointOptions {
  std::string condition;    // an expression; empty: always
  std::string hit_condition;  // "5", "== 5", ">= 5", "> 5", "< 5", "<= 5", "% 5": of the times that the condition held; empty: each time
  std::string log_message;  // if not empty it is told in place of a stop, with the values of {expressions}
};

struct Breakpoint {
  int id = 0;
  bool verified = false;    // it is bound to an instruction, and its expressions can be read
  bool failed = false;      // its expressions can't be read: no program that is loaded later changes that
  std::string message;      // why not, or what to know
  std::vector<Place> places;
  std::string file;         // of a source breakpoint
  int32_t line = 0;         // in the source or the listing
  uint64_t hits = 0;
};

struct LineBreakpoint {
  int32_t line = 0;         // from 1
  BreakpointOptions options;
};
struct AddressBreakpoint {
  uint64_t address = 0;
  BreakpointOptions options;
};
struct FunctionBreakpoint {
  std::string name;         // of a function ("forward", "@forward") or an operator ("Conv": each call of it)
  BreakpointOptions options;
};

// --- threads and frames ------------------------------------------------------------------------------------------------

struct ThreadInfo {
  ThreadId thread = 0;
  std::string name;
  int64_t system_id = 0;    // gettid()
  uint64_t handle = 0;      // pthread_self(), Python's threading.get_ident()
  bool running = false;     // a debugged program, or waits in one
  std::optional<Stop> stop; // set while it waits
};

struct FrameInfo {
  Place place;
  uint64_t address = 0;
  uint32_t offset = 0;
  std::string program, function;       // names
  std::string opcode, op;              // "OP_CALL", "Conv"
  std::string call;                    // "@forward(f32[1, 3, 64, 64])": what the run was given
  std::string file;                    // where the instruction comes from
  int32_t line = 0, column = 0;
  std::vector<std::string> origins;
  int32_t listing_line = 0;            // from 1
  int32_t region = -1;
  std::string entry;                   // of the native code that runs now, or next as one step; empty: interpreted
};

struct DimView {
  std::string symbol;                  // "N", "2*H"; empty: a constant, or not declared
  std::string axis;                    // "N", "h": the name that the instruction gave it, or its symbol; may be empty
  int64_t value = 0;
};

/// One register: kind and what is declared always, the rest as far as its state permits.
struct RegisterView {
  Reg reg = -1;
  std::string name;
  std::string kind;                    // "TensorMeta", "i64", "f64", "bool", "list"
  std::string declared;                // "f32[N, 3, H, W]"
  std::string text;                    // "[dynamic=16, 3, h=512, w=512]" of a tensor, else the value
  std::string state;                   // "live", "unwritten", "partly written", "freed", "taken by R9", "fused into 0x1a", "unset"
  bool readable = false;               // its values may be looked at
  bool changed = false;                // by what ran since the thread's last stop
  std::string value;                   // of a scalar; of a list its length
  // of tensors
  std::vector<DimView> shape;
  std::string dtype, device, layout;
  std::vector<int64_t> strides;        // in elements
  uint64_t address = 0;                // memory_addr; 0: none
  int64_t bytes = 0;
  bool is_jit_compiled = false;        // what gave it its value was native code
  std::string owner;                   // "arena", "pool", "input 0", "constant w", "view of R3", "result", "list"; empty: none
  std::string reused_from;             // "R5": whose memory it is now; empty: nobody's
};

struct Registers {
  Place place;
  int32_t total = 0;                   // of the function
  std::vector<RegisterView> registers;
};

struct SymbolView {
  std::string name, declared;          // "in [1, 64], multiple of 8"
  bool bound = false;
  int64_t value = 0;
  std::string from;                    // "input 0 (x), axis 0"; may be empty
};

struct ConstantView {
  std::string name, type;              // "f32[64, 3, 3, 3]"
  int64_t bytes = 0;
};

/// Memory that registers hold.
struct BufferView {
  uint64_t address = 0;
  int64_t bytes = 0;
  std::string owner;
  std::vector<Reg> registers;
  std::string reused_from;
};

struct OperandView {
  std::string name;                    // of the operator's table: "X"; else "input 0"
  RegisterView value;                  // reg -1, state "absent": none
};

/// The OP_CALL at which a thread waits.
struct CallView {
  std::string op, attributes;
  std::vector<OperandView> inputs, outputs;
  std::vector<std::string> arguments;  // sizes that are given as operands: "2*H = 64"
  std::vector<KernelVerdict> candidates;  // cheapest first; the one that runs is `chosen`
  std::string note;                    // why there are no candidates; empty: there are
  std::vector<std::string> origins;
};

// --- values ------------------------------------------------------------------------------------------------------------

/// What an expression gives.
struct Value {
  enum class Kind : uint8_t { kInt, kFloat, kBool, kText, kList, kTensor };
  Kind kind = Kind::kInt;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::string text;                    // how it is written, of every kind
  std::string type;                    // "i64", "f32[1, 3, 8, 8]"
  std::vector<Value> items;            // of a list
  Reg reg = kNoReg;                    // of a tensor: the register it is; kNoReg: a part of one
};

struct Histogram {
  std::vector<double> edges;           // one more than counts
  std::vector<int64_t> counts;
};

/// Of all elements of the slice; min, max, mean over the finite ones.
struct Statistics {
  int64_t count = 0, finite = 0, nan = 0, inf = 0, zeros = 0;
  double min = 0, max = 0, mean = 0;
  Histogram histogram;
};

/// A copy of elements, row-major. One of the three vectors is filled: reals of floats; integers of the rest (u64 by
/// its bits, bool 0 or 1); strings of strings.
struct TensorCopy {
  DType dtype{};
  std::vector<int64_t> shape, strides; // of the slice; strides of the tensor's own memory
  int64_t total = 0;                   // elements of the slice
  bool truncated = false;              // there are more than were copied
  std::vector<double> reals;
  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  Statistics statistics;
};

struct Completion {
  std::string label, text;             // shown, and put in place of the word
  std::string detail;                  // "f32[N, 3, H, W]", "function"
  int32_t start = 0, length = 0;       // of the word in the text, from 0
};

/// New code for a region.
struct Patch {
  uint64_t program = 0;
  std::string name;                    // of the program
  int32_t function = 0, region = 0;
  std::string signature;
  int old_tier = 0, new_tier = 0;
  uint64_t address = 0;                // of the region's first instruction
  std::string text;                    // "region 0 of @main: tier 1 -> 2 (jit_1920x1080)"
};

}  // namespace msvm::observe::debug
