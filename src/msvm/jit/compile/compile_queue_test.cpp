#include "msvm/jit/compile/compile_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <mutex>
#include <thread>

namespace msvm::jit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> request(const std::string& program) { return encode_request({"host", "", program}); }

QueueOptions options() {
  QueueOptions o;
  o.compiler.path = MSVM_FAKE_COMPILER;
  o.compiler.memory_limit = 0;
  o.compiler.idle_priority = false;  // other tests run beside this one
  o.compiler.first_back_off = 0.01;
  o.deadline = 30;
  o.cpu_burst = 1e9;
  o.raise_after = INFINITY;
  return o;
}

/// What was told, in order.
class Log {
 public:
  std::function<void(const CompileResult&)> as(const std::string& name) {
    return [this, name](const CompileResult& r) {
      std::lock_guard lock(mutex_);
      names_.push_back(name);
      results_[name] = r;
    };
  }
  void add(const std::string& name) {
    std::lock_guard lock(mutex_);
    names_.push_back(name);
  }
  std::vector<std::string> names() const {
    std::lock_guard lock(mutex_);
    return names_;
  }
  CompileResult result(const std::string& name) const {
    std::lock_guard lock(mutex_);
    auto it = results_.find(name);
    EXPECT_TRUE(it != results_.end()) << name << " was not told";
    return it == results_.end() ? CompileResult{} : it->second;
  }
  Outcome outcome(const std::string& name) const { return result(name).outcome; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  std::map<std::string, CompileResult> results_;
};

template <class F>
bool eventually(F&& f) {
  for (int i = 0; i < 3000; ++i, ::usleep(10000)) {
    if (f()) return true;
  }
  return false;
}

bool running(const CompileQueue& q, const std::string& label) {
  return eventually([&] {
    auto v = q.view();
    return v.running && v.running->label == label && v.running->phase == Phase::kOptimize;
  });
}

CompileJob job(const std::string& program, std::function<void(const CompileResult&)> done, double gain = 1, Owner owner = 1) {
  return {.request = request(program),
          .label = program,
          .owner = owner,
          .gain = gain,
          .urgency = Urgency::kNormal,
          .done = std::move(done)};
}

/// Holds the compiler until its owner, 99, is cancelled.
void block(CompileQueue& q) {
  q.submit(job("hang", {}, 1, 99));
  ASSERT_TRUE(running(q, "hang"));
}

TEST(CompileQueue, TellsTheResultOnItsThread) {
  CompileQueue q(options());
  Log log;
  std::thread::id where;
  q.submit(job("ok", [&](const CompileResult& r) {
    where = std::this_thread::get_id();
    log.as("ok")(r);
  }));
  q.drain();
  EXPECT_EQ(log.outcome("ok"), Outcome::kCompiled);
  EXPECT_NE(where, std::this_thread::get_id());
  auto v = q.view();
  EXPECT_EQ(v.outcomes[static_cast<size_t>(Outcome::kCompiled)], 1u);
  EXPECT_EQ(v.compiled.count, 1u);
  EXPECT_GT(v.compiled.max, 0);
  EXPECT_EQ(v.phases[0].count, 1u);
  EXPECT_EQ(v.compiler_starts, 1);
  EXPECT_FALSE(v.running);
}

TEST(CompileQueue, TakesUrgentOnesThenMostGainPerSecond) {
  CompileQueue q(options());
  Log log;
  block(q);
  const std::string large = "ok large " + std::string(100000, 'x');  // takes longer, it is guessed
  q.submit(job("ok first", log.as("first"), 10));
  q.submit(job("ok better", log.as("better"), 20));
  q.submit(job(large, log.as("large"), 21));
  q.submit(job("ok equal", log.as("equal"), 10));
  auto idle = job("ok idle", log.as("idle"), 1000);
  idle.urgency = Urgency::kIdle;
  q.submit(idle);
  auto waited = job("ok waited", log.as("waited"), 0);
  waited.urgency = Urgency::kWaited;
  q.submit(waited);
  auto v = q.view();
  EXPECT_EQ(v.queued, 6u);
  ASSERT_EQ(v.next.size(), 6u);
  EXPECT_EQ(v.next[0].label, "ok waited");
  q.cancel(99);
  q.drain();
  EXPECT_THAT(log.names(), ElementsAre("waited", "better", "first", "equal", "large", "idle"));
}

TEST(CompileQueue, EqualRequestsAreOneJob) {
  CompileQueue q(options());
  Log log;
  block(q);
  q.submit(job("ok 1", log.as("a"), 5));
  q.submit(job("ok 2", log.as("other"), 8));
  q.submit(job("ok 1", log.as("b"), 5, 2));  // together they are worth more
  q.cancel(99);
  q.drain();
  EXPECT_THAT(log.names(), ElementsAre("a", "b", "other"));
  EXPECT_EQ(log.result("a").image, log.result("b").image);
  EXPECT_EQ(q.view().joined, 1u);
  EXPECT_EQ(q.view().compiled.count, 2u);
}

TEST(CompileQueue, CancelLeavesWhatOthersWant) {
  CompileQueue q(options());
  Log log;
  q.submit(job("slow 200", log.as("mine"), 1, 1));
  ASSERT_TRUE(running(q, "slow 200"));
  q.submit(job("slow 200", log.as("theirs"), 1, 2));
  q.submit(job("ok queued", log.as("queued"), 1, 1));
  q.cancel(1);
  q.drain();
  EXPECT_THAT(log.names(), ElementsAre("theirs"));
  EXPECT_EQ(log.outcome("theirs"), Outcome::kCompiled);
  EXPECT_EQ(q.view().outcomes[static_cast<size_t>(Outcome::kCancelled)], 1u);
}

TEST(CompileQueue, CancelKillsWhatNobodyWants) {
  CompileQueue q(options());
  block(q);
  const pid_t compiler = q.view().compiler;
  ASSERT_GT(compiler, 0);
  q.cancel(99);
  EXPECT_TRUE(eventually([&] { return ::kill(compiler, 0) != 0; }));
  q.drain();
  EXPECT_EQ(q.view().outcomes[static_cast<size_t>(Outcome::kCancelled)], 1u);
  Log log;
  q.submit(job("hang on", log.as("again"), 1, 99));  // the owner may come again
  q.submit(job("ok", log.as("ok")));
  q.cancel(99);
  q.drain();
  EXPECT_THAT(log.names(), ElementsAre("ok"));
}

TEST(CompileQueue, CancelWaitsForTheFunctionThatRuns) {
  CompileQueue q(options());
  std::atomic<int> inside = 0, ended = 0;
  q.submit(job("ok", [&](const CompileResult&) {
    inside = 1;
    ::usleep(100000);
    ended = 1;
  }));
  ASSERT_TRUE(eventually([&] { return inside == 1; }));
  q.cancel(1);
  EXPECT_EQ(ended, 1);
}

TEST(CompileQueue, FunctionsMayUseTheQueue) {
  CompileQueue q(options());
  Log log;
  q.submit(job("ok 1", [&](const CompileResult&) {
    q.submit(job("ok 2", log.as("2"), 1, 2));
    q.post(3, Urgency::kNormal, [&] { log.add("work"); });
    q.submit(job("ok never", log.as("never")));
    q.cancel(1);  // of itself: doesn't wait for itself
    (void)q.view();
    q.drain();
  }));
  EXPECT_TRUE(eventually([&] { return log.names().size() == 2; }));
  q.drain();
  EXPECT_THAT(log.names(), ElementsAre("work", "2"));
}

TEST(CompileQueue, DestructorsOfFunctionsMayUseTheQueue) {
  CompileQueue q(options());
  struct Calls {
    CompileQueue* q;
    explicit Calls(CompileQueue* queue) : q(queue) {}
    ~Calls() { q->cancel(7); }
  };
  block(q);
  q.submit(job("ok", [c = std::make_shared<Calls>(&q)](const CompileResult&) { (void)c; }, 1, 7));
  q.post(7, Urgency::kNormal, [c = std::make_shared<Calls>(&q)] { (void)c; });
  q.cancel(7);
  q.cancel(99);
  q.drain();
}

TEST(CompileQueue, SmallJobsRunWhileTheCompilerWorks) {
  CompileQueue q(options());
  Log log;
  block(q);
  std::atomic<bool> go = false;
  q.post(1, Urgency::kWaited, [&] {
    while (!go) ::usleep(1000);
  });
  q.post(1, Urgency::kIdle, [&] { log.add("idle"); });
  q.post(1, Urgency::kNormal, [&] { log.add("normal 1"); });
  q.post(1, Urgency::kNormal, [&] { log.add("normal 2"); });
  q.post(2, Urgency::kNormal, [&] { log.add("cancelled"); });
  q.post(1, Urgency::kWaited, [&] { log.add("waited"); });
  q.cancel(2);
  go = true;
  EXPECT_TRUE(eventually([&] { return log.names().size() == 4; }));
  EXPECT_THAT(log.names(), ElementsAre("waited", "normal 1", "normal 2", "idle"));
  EXPECT_TRUE(q.view().running);
}

TEST(CompileQueue, FailuresAreNotTriedAgainUntilSomethingChanged) {
  CompileQueue q(options());
  Log log;
  q.submit(job("refuse", log.as("1")));
  q.drain();
  q.submit(job("refuse", log.as("2")));
  q.drain();
  EXPECT_EQ(log.outcome("1"), Outcome::kRefused);
  EXPECT_EQ(log.outcome("2"), Outcome::kFailedBefore);
  EXPECT_THAT(log.result("2").error, HasSubstr("found f16"));
  q.something_changed();
  q.submit(job("refuse", log.as("3")));
  q.drain();
  EXPECT_EQ(log.outcome("3"), Outcome::kRefused);
  EXPECT_EQ(q.view().generation, 2u);
}

TEST(CompileQueue, EveryFailureIsToldAndTheQueueGoesOn) {
  auto o = options();
  CompileQueue q(o);
  Log log;
  for (const char* program : {"crash", "garbage", "midreply", "refuse", "exit 78", "ok"}) q.submit(job(program, log.as(program)));
  q.drain();
  EXPECT_EQ(log.outcome("crash"), Outcome::kCrashed);
  EXPECT_EQ(log.outcome("garbage"), Outcome::kGarbage);
  EXPECT_EQ(log.outcome("midreply"), Outcome::kCrashed);
  EXPECT_EQ(log.outcome("refuse"), Outcome::kRefused);
  EXPECT_EQ(log.outcome("exit 78"), Outcome::kOutOfMemory);
  EXPECT_EQ(log.outcome("ok"), Outcome::kCompiled);
  q.set_deadline(0.05);
  q.submit(job("hang", log.as("hang")));
  q.drain();
  EXPECT_EQ(log.outcome("hang"), Outcome::kTimedOut);
  auto v = q.view();
  EXPECT_EQ(v.outcomes[static_cast<size_t>(Outcome::kCrashed)], 2u);
  EXPECT_EQ(v.compiled.count, 1u);
}

TEST(CompileQueue, WithoutACompilerJobsEndAtOnce) {
  auto o = options();
  o.compiler.path = "/nowhere";
  CompileQueue q(o);
  Log log;
  q.submit(job("ok", log.as("ok")));
  q.drain();
  EXPECT_EQ(log.outcome("ok"), Outcome::kNoCompiler);
}

TEST(CompileQueue, FullQueuesDropTheLeastWorth) {
  auto o = options();
  o.max_queued = 4;  // the running one included
  CompileQueue q(o);
  Log log;
  block(q);
  for (int gain : {5, 1, 7, 3, 9}) q.submit(job("ok " + std::to_string(gain), log.as(std::to_string(gain)), gain));
  q.cancel(99);
  q.drain();
  EXPECT_EQ(log.outcome("1"), Outcome::kQueueFull);
  EXPECT_EQ(log.outcome("3"), Outcome::kQueueFull);
  EXPECT_EQ(log.outcome("5"), Outcome::kCompiled);
  EXPECT_EQ(log.outcome("9"), Outcome::kCompiled);
}

TEST(CompileQueue, StormsStayWithinTheBudgetButForWhatSomebodyWaitsFor) {
  auto o = options();
  o.cpu_burst = 1e-4;
  o.cpu_share = 1e-6;
  CompileQueue q(o);
  Log log;
  q.submit(job("busy 50", log.as("busy")));
  ASSERT_TRUE(eventually([&] { return log.names().size() == 1; }));
  q.submit(job("ok", log.as("poor")));
  auto waited = job("ok waited", log.as("waited"));
  waited.urgency = Urgency::kWaited;
  q.submit(waited);
  ASSERT_TRUE(eventually([&] { return log.names().size() == 2; }));
  EXPECT_EQ(log.names()[1], "waited");
  EXPECT_LT(q.view().budget, 0);
  EXPECT_EQ(q.view().queued, 1u);
}

TEST(CompileQueue, ShutdownDuringACompilationIsQuickAndTellsNobody) {
  Log log;
  pid_t compiler;
  auto began = std::chrono::steady_clock::now();
  {
    CompileQueue q(options());
    q.submit(job("hang", log.as("hang")));
    ASSERT_TRUE(running(q, "hang"));
    q.submit(job("ok", log.as("ok")));
    compiler = q.view().compiler;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));  // less than the deadline
  EXPECT_TRUE(eventually([&] { return ::kill(compiler, 0) != 0; }));
  EXPECT_TRUE(log.names().empty());
}

TEST(CompileQueue, MayEndInItsOwnFunction) {
  auto* q = new CompileQueue(options());
  std::atomic<bool> done = false;
  q->post(1, Urgency::kNormal, [&] {
    delete q;
    done = true;
  });
  EXPECT_TRUE(eventually([&] { return done.load(); }));
}

TEST(CompileQueue, TheCompilerIsEndedWhenThereIsNothingToDo) {
  auto o = options();
  o.idle_stop = 0.05;
  CompileQueue q(o);
  Log log;
  q.submit(job("ok", log.as("1")));
  q.drain();
  EXPECT_TRUE(eventually([&] { return q.view().compiler < 0; }));
  q.submit(job("ok", log.as("2")));
  q.drain();
  EXPECT_EQ(log.outcome("2"), Outcome::kCompiled);
  EXPECT_EQ(q.view().compiler_starts, 2);
}

class MemoryStore : public CodeStore {
 public:
  Image load(std::span<const std::byte> key) override {
    auto it = images.find({key.begin(), key.end()});
    return it == images.end() ? nullptr : it->second;
  }
  void store(std::span<const std::byte> key, std::span<const std::byte> image, std::string_view) override {
    images[{key.begin(), key.end()}] = std::make_shared<const std::vector<std::byte>>(image.begin(), image.end());
  }
  std::map<std::vector<std::byte>, Image> images;
};

TEST(CompileQueue, WhatTheStoreHasIsNotCompiled) {
  auto store = std::make_shared<MemoryStore>();
  Log log;
  {
    auto o = options();
    o.store = store;
    CompileQueue q(o);
    q.submit(job("ok", log.as("compiled")));
    q.submit(job("refuse", log.as("refused")));
    q.drain();
    EXPECT_EQ(store->images.size(), 1u);
  }
  auto o = options();
  o.store = store;
  o.compiler.path = "/nowhere";
  CompileQueue q(o);
  q.submit(job("ok", log.as("loaded")));
  q.drain();
  EXPECT_EQ(log.outcome("compiled"), Outcome::kCompiled);
  EXPECT_EQ(log.outcome("loaded"), Outcome::kFromDisk);
  EXPECT_EQ(*log.result("loaded").image, *log.result("compiled").image);
  EXPECT_EQ(q.view().compiler_starts, 0);
}

TEST(CompileQueue, TheStoreAnswersWhileTheCompilerWorks) {
  auto o = options();
  auto store = std::make_shared<MemoryStore>();
  store->store(request("ok"), std::as_bytes(std::span("image", 5)), "");
  o.store = store;
  CompileQueue q(o);
  Log log;
  block(q);
  q.submit(job("ok", log.as("loaded")));
  EXPECT_TRUE(eventually([&] { return log.names().size() == 1; }));
  EXPECT_TRUE(q.view().running);
}

TEST(CompileQueue, AForkedChildStartsAfresh) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not follow forks of threaded programs";
#endif
  CompileQueue q(options());
  Log log;
  block(q);
  q.submit(job("ok parents", log.as("parents")));
  const pid_t pid = ::fork();
  if (pid == 0) {
    Log mine;
    bool good = q.view().queued == 0 && !q.view().running;
    q.cancel(1);
    q.submit(job("ok", mine.as("child"), 1, 5));
    q.drain();
    good = good && mine.names() == std::vector<std::string>{"child"} && mine.outcome("child") == Outcome::kCompiled &&
           log.names().empty();
    q.~CompileQueue();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(q.view().running) << "the parent's job goes on";
  q.cancel(99);
  q.drain();
  EXPECT_EQ(log.outcome("parents"), Outcome::kCompiled);
}

TEST(CompileQueue, ManyThreadsMaySubmitCancelAndLook) {
  auto o = options();
  o.max_queued = 16;
  std::atomic<int> told = 0, after_cancel = 0;
  std::array<std::atomic<bool>, 4> cancelled{};
  {
    CompileQueue q(o);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          q.submit(job((i % 7 == 0 ? "crash " : "ok ") + std::to_string(i % 10),
                       [&, t](const CompileResult&) {
                         ++told;
                         if (cancelled[static_cast<size_t>(t)]) ++after_cancel;
                       },
                       i, static_cast<Owner>(t + 1)));
          q.post(static_cast<Owner>(t + 1), Urgency::kNormal, [&] { ++told; });
          if (i % 10 == 9) (void)q.view();
          EXPECT_TRUE(i != 25 || eventually([&] { return told > 10; }));
          if (i % 20 == 19) q.something_changed();
        }
        q.cancel(static_cast<Owner>(t + 1));
        cancelled[static_cast<size_t>(t)] = true;
      });
    }
    for (auto& t : threads) t.join();
    q.drain();
  }
  EXPECT_EQ(after_cancel, 0);
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace msvm::jit
