// Group 3: the memory model. References, their contents and what the paths did to them.
#pragma once
#include "msvm/verify/fills.h"

namespace msvm::verification {

/// Walks blocks so that every predecessor but those of back edges comes first. State is kept for owned references only;
/// what lives across blocks is listed at their ends, so that the work is that of liveness.
class Memory {
 public:
  Memory(Context& c, Sizes& s);
  void enter(BlockId b);            // after the sizes of its PHIs
  void step(int32_t at);            // every instruction but PHIs
  void edge(BlockId from, BlockId to);  // after the sizes of the edge
  void leave(BlockId b);            // before the edges
  void finish();

 private:
  enum class Status : uint8_t {
    kGone,       // not defined, dropped or moved
    kUnwritten,
    kPartial,    // windows wrote `fill`
    kWritten,    // with `fill`: found complete by a check when it was read
    kConflict,   // written on some of the paths that led here
    kStale,      // its buffer went to another tensor by an in-place hint: it can only be freed
    kBorrowed,   // input or constant
  };
  struct State {
    Status status = Status::kGone;
    int32_t fill = -1;
  };
  struct Entry {
    Reg reg;
    State state;
    uint32_t paths = 1;
  };
  struct Window {
    Reg parent;
    int axis;
    Dim from, to;
  };

  // memory.cpp: instructions
  void define(Reg r, Status status, int32_t fill = -1);
  void drop(Reg r, int32_t at);
  bool alive(int32_t at, Reg r);
  bool owned(int32_t at, Reg r, const char* taker);
  bool read(int32_t at, Reg r);
  void consume(int32_t at, Reg r, const char* taker);
  void write(int32_t at, Reg r);
  void mark_written(int32_t at, Reg r);
  bool complete_by_check(int32_t at, Reg r);
  void create(int32_t at, const Instr& x);
  void allocate(int32_t at, const Instr& x);
  void view(int32_t at, const Instr& x);
  void resize(int32_t at, const Instr& x);
  void call(int32_t at, const Instr& x);
  void return_values(int32_t at, const Instr& x);
  void read_list_or_tensor(int32_t at, Reg r);
  int32_t keep(Fill fill);
  std::string gone_text(Reg r) const;

  // merge.cpp: where paths meet
  bool moved_on(BlockId to, size_t pred_index, std::vector<Entry>& out, BlockId from);
  State meet(State a, State b, BlockId at, Reg r);
  bool same_fill(int32_t a, int32_t b) const;
  void close_loop(BlockId from, BlockId header);
  void phi_operand(int32_t phi, BlockId from, std::vector<Reg>& moved);
  void fill_operand(int32_t phi, BlockId from, Reg r);
  void clear();
  void path_leak(BlockId from, BlockId to, Reg r);

  // results.cpp: whether a returned tensor alone owns its storage
  Reg find(Reg r);
  void note_aliases(const Instr& x);

  Context& c_;
  Sizes& s_;
  std::vector<State> state_;            // by register
  std::vector<Reg> alive_;              // owned references
  std::vector<int32_t> alive_at_;       // by register: position in alive_, -1
  std::vector<int32_t> dropped_at_;     // by register: for messages
  std::vector<uint8_t> destination_;    // by register
  std::vector<int32_t> window_index_;   // by register, -1
  std::vector<Window> windows_;
  std::vector<Reg> reuse_;              // by register: in-place hint
  std::vector<Fill> fills_;

  std::vector<std::vector<Entry>> exit_, entry_;        // by block
  std::vector<uint8_t> entered_, left_;                 // by block
  std::vector<uint32_t> exits_wanted_;                  // by block: successors that still need its exit
  std::vector<std::vector<std::vector<Reg>>> moved_;    // by block and predecessor: moved by the PHIs
  std::vector<uint32_t> mark_, place_;                  // by register: scratch of a merge
  uint32_t round_ = 0;
  size_t entries_ = 0;
  bool disabled_ = false;

  std::vector<Reg> class_;                              // union-find: may share storage
  std::vector<uint8_t> foreign_, partial_;              // by register: storage of someone else; not the whole of it
  std::vector<std::pair<Reg, Reg>> phi_uses_;           // operand, PHI
  std::vector<std::pair<int32_t, Reg>> returned_;
};

}  // namespace msvm::verification
