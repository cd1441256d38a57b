// The first to speak to a client that debugs: hands the conversation to whoever runs the program.
#pragma once
#include <functional>
#include <memory>

#include "module_launcher.h"
#include "observe/dap/session.h"

namespace msvm::cli {

/// A program of bytecode runs in this process; Python programs, and processes that run, in theirs.
class DebugFront final : public observe::dap::Peer {
 public:
  /// `client` must outlive it. `over`: the session has ended, the last answer is out.
  DebugFront(observe::dap::Output& client, std::function<void()> over);
  ~DebugFront() override;
  void receive(const observe::dap::Json& message) override;
  void closed() override;

 private:
  std::unique_ptr<observe::dap::Peer> elsewhere(const observe::dap::Json& request);

  observe::dap::Output& client_;
  const std::function<void()> over_;
  ModuleLauncher launcher_;
  class Beginning;
  std::unique_ptr<observe::dap::Session> here_;
  std::unique_ptr<Beginning> beginning_;            // of the session elsewhere
  std::unique_ptr<observe::dap::Peer> elsewhere_;   // the program turned out to run there
  observe::dap::Json initialize_;                   // its arguments
};

}  // namespace msvm::cli
