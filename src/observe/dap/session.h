// The adapter: one client that debugs the programs of this process.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "observe/dap/host.h"
#include "observe/dap/launch.h"
#include "observe/dap/peer.h"
#include "observe/debug/debugger.h"
#include "observe/snapshot/source.h"

namespace msvm::observe::dap {

struct SessionOptions {
  debug::Debugger& debugger;
  Source& source;
  HostFrames* host = nullptr;              // null: programs are called from nowhere
  Launcher* launcher = nullptr;            // null: there is no `launch`
  bool may_attach = false;                 // `attach` to this process
  std::string token;                       // what that needs; empty: nothing
  std::function<void()> on_over;           // the session has ended: the last answer is out
};

/// Every request gets one response, whatever it holds. Events that come while a request is handled go out after its response.
class Session final : public Peer {
 public:
  /// `client` must outlive the session.
  Session(Output& client, SessionOptions options);
  /// Lets go of everything, as closed() does.
  ~Session() override;
  void receive(const Json& message) override;
  /// The client is gone: programs go on as if it had never come; what was launched ends.
  void closed() override;
  /// Whether the client debugs: it has attached, or launched. From any thread.
  bool attached() const;
  /// What it calls itself, "Visual Studio Code (process 4711)"; empty: it hasn't said. From any thread.
  std::string client() const;
  /// Whether it has launched or attached, to debug or not. For the thread that calls receive().
  bool begun() const;
  /// An `output` event; `category`: "stdout", "stderr", "console". From any thread, as the next.
  void output(std::string_view category, std::string_view text);
  void event(const std::string& name, Json body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace msvm::observe::dap
