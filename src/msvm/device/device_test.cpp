#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "msvm/device/buffer_pool.h"
#include "msvm/device/cpu_features.h"
#include "msvm/device/peak.h"
#include "msvm/device/workers.h"

namespace msvm {
namespace {

// ---- processor -------------------------------------------------------------------------------------------------------------

TEST(CpuFeatures, AreSane) {
  const CpuFeatures& f = cpu_features();
  EXPECT_GE(f.cores, 1);
  EXPECT_LE(f.cores, static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_GE(f.l1_bytes, 4096);
  EXPECT_GE(f.l2_bytes, f.l1_bytes);
  EXPECT_FALSE(f.model.empty());
  EXPECT_FALSE(isa_name(f.isa).empty());
}

// ---- workers ---------------------------------------------------------------------------------------------------------------

TEST(Peak, IsThatOfACore) {
  const double peak = measured_peak_gflops();
  const double lanes = cpu_features().isa == Isa::kAvx512 ? 16 : cpu_features().isa == Isa::kAvx2 ? 8 : 1;
  // A fraction of a step a cycle on a slow processor that others use, too; at most four units of two operations at 7 GHz.
  EXPECT_GT(peak, lanes * 0.05);
  EXPECT_LT(peak, lanes * 4 * 2 * 7);
  EXPECT_EQ(measured_peak_gflops(), peak);
}

TEST(WorkerPool, RunsEachItemOnceInChunksThatDependOnTheGrainAlone) {
  for (int threads : {1, 2, 3, 5}) {
    WorkerPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 63, 64, 65, 1000}) {
      for (int64_t grain : {1, 7, 64, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
        std::atomic<bool> aligned{true};
        pool.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
          if (begin % grain || end != std::min(count, begin + grain)) aligned = false;
          for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed);
        });
        EXPECT_TRUE(aligned);
        for (auto& s : seen) ASSERT_EQ(s.load(), 1);
      }
    }
  }
}

TEST(WorkerPool, ManyShortJobsAndPauses) {
  WorkerPool pool(3);
  int64_t total = 0;
  for (int round = 0; round < 3000; ++round) {
    std::atomic<int64_t> sum{0};
    pool.parallel_for(50, 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum.fetch_add(i, std::memory_order_relaxed);
    });
    ASSERT_EQ(sum.load(), 50 * 49 / 2);
    total += sum.load();
    if (round % 500 == 0) usleep(300);  // the workers fall asleep
  }
  EXPECT_EQ(total, 3000 * 1225);
}

TEST(WorkerPool, CallersShareItAndNestedCallsRunAlone) {
  WorkerPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int64_t> done{0};
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round)
        pool.parallel_for(20, 1, [&](int64_t begin, int64_t end) {
          pool.parallel_for(end - begin, 1, [&](int64_t b, int64_t e) { done.fetch_add(e - b, std::memory_order_relaxed); });
        });
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(done.load(), 6 * 300 * 20);
}

TEST(WorkerPool, UsesSeveralThreads) {
  WorkerPool pool(3);
  std::set<std::thread::id> ids;
  std::mutex lock;
  for (int round = 0; round < 20 && ids.size() < 2; ++round)
    pool.parallel_for(30, 1, [&](int64_t, int64_t) {
      usleep(1000);
      std::lock_guard<std::mutex> hold(lock);
      ids.insert(std::this_thread::get_id());
    });
  EXPECT_GE(ids.size(), 2u);
}

TEST(WorkerPool, AForkedChildStartsAfresh) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not follow forks of threaded programs";
#endif
  WorkerPool pool(3);
  std::atomic<int64_t> n{0};
  pool.parallel_for(100, 1, [&](int64_t b, int64_t e) { n += e - b; });
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int64_t> m{0};
    for (int i = 0; i < 10; ++i) pool.parallel_for(100, 1, [&](int64_t b, int64_t e) { m += e - b; });
    _exit(m == 1000 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  pool.parallel_for(100, 1, [&](int64_t b, int64_t e) { n += e - b; });
  EXPECT_EQ(n, 200);
}

TEST(WorkerPool, EnvironmentSetsTheNumberOfThreads) {
  setenv("MSVM_NUM_THREADS", "7", 1);
  EXPECT_EQ(WorkerPool().threads(), 7);
  EXPECT_EQ(WorkerPool(2).threads(), 2);
  setenv("MSVM_NUM_THREADS", "many", 1);
  EXPECT_EQ(WorkerPool().threads(), cpu_features().cores);
  unsetenv("MSVM_NUM_THREADS");
}

TEST(GrainFor, SplitsNothingShort) {
  EXPECT_EQ(grain_for(1000, 1), 1000);          // 1 us
  EXPECT_EQ(grain_for(15000, 1), 15000);        // 15 us: two halves would be too short
  EXPECT_LT(grain_for(1'000'000, 1), 1'000'000);
  EXPECT_GE(grain_for(1'000'000, 1), 10'000);
  EXPECT_EQ(grain_for(4, 1e6), 1);
  EXPECT_GE(grain_for(0, 1), 1);
  EXPECT_GE(grain_for(INT64_MAX, 1e-9), 1);
}

// ---- pool ------------------------------------------------------------------------------------------------------------------

TEST(BufferPool, BlocksAreAlignedWritableAndCounted) {
  BufferPool pool;
  int64_t total = 0;
  std::vector<StorageRef> keep;
  for (int64_t bytes : {1, 63, 64, 65, 512, 513, 1000, 4096, 100'000, 1 << 20, (1 << 20) + 1, 3 << 20, 40 << 20}) {
    auto r = pool.allocate(bytes, MemoryOwner::kArena);
    ASSERT_TRUE(r.ok());
    Storage* s = r->get();
    EXPECT_GE(static_cast<int64_t>(s->bytes), bytes);
    EXPECT_LE(static_cast<int64_t>(s->bytes), bytes + bytes / 4 + 64);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(s->data) % 64, 0u);
    EXPECT_TRUE(s->pooled && s->unique());
    std::memset(s->data, 0x5a, s->bytes);
    total += (bytes + 63) / 64 * 64;
    keep.push_back(*r);
  }
  MemoryStats stats = pool.stats();
  EXPECT_EQ(stats.in_use, total);
  EXPECT_EQ(stats.by_owner[static_cast<int>(MemoryOwner::kArena)], total);
  EXPECT_GE(stats.reserved, total);
  keep.clear();
  stats = pool.stats();
  EXPECT_EQ(stats.in_use, 0);
  EXPECT_EQ(stats.peak, total);
  pool.trim();
  EXPECT_EQ(pool.stats().reserved, 0);
}

TEST(BufferPool, ASteadyRunAsksTheSystemForNothing) {
  BufferPool pool;
  int64_t before = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<StorageRef> keep;
    for (int64_t bytes : {300, 70'000, 3 << 20, 64, 300}) keep.push_back(*pool.allocate(bytes, MemoryOwner::kInterpreter));
    if (round == 0) before = pool.stats().system_allocations;
  }
  EXPECT_EQ(pool.stats().system_allocations, before);
  EXPECT_EQ(pool.stats().allocations, 25000);
}

TEST(BufferPool, WhatLiesIdleIsGivenBack) {
  BufferPool pool;
  {
    std::vector<StorageRef> big;
    for (int i = 0; i < 8; ++i) big.push_back(*pool.allocate(8 << 20, MemoryOwner::kInterpreter));
  }
  EXPECT_GE(pool.stats().reserved, 64 << 20);
  for (int round = 0; round < 40'000; ++round) (void)pool.allocate(256, MemoryOwner::kInterpreter);
  EXPECT_LE(pool.stats().reserved, 8 << 20);
}

TEST(BufferPool, ChangingSizesDoNotPileUp) {
  BufferPool pool;
  for (int64_t i = 0; i < 200; ++i) {
    auto a = pool.allocate((20 << 20) + i * (1 << 20), MemoryOwner::kInterpreter);
    ASSERT_TRUE(a.ok());
  }
  EXPECT_LE(pool.stats().reserved, int64_t{2} * 250 << 20);
}

TEST(BufferPool, TheLimitIsNamed) {
  BufferPool pool(1000);
  auto a = pool.allocate(600, MemoryOwner::kInterpreter);
  ASSERT_TRUE(a.ok());
  auto b = pool.allocate(500, MemoryOwner::kInterpreter);
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.status().code(), StatusCode::kResourceLimit);
  for (const char* part : {"512", "640", "1000"}) EXPECT_NE(b.status().message().find(part), std::string::npos) << b.status().message();
  a->reset();
  EXPECT_TRUE(pool.allocate(900, MemoryOwner::kInterpreter).ok());
  EXPECT_FALSE(pool.allocate(-1, MemoryOwner::kInterpreter).ok());
  EXPECT_FALSE(pool.allocate(INT64_MAX, MemoryOwner::kInterpreter).ok());
  EXPECT_FALSE(pool.allocate_strings(INT64_MAX / 32, MemoryOwner::kInterpreter).ok());
  EXPECT_FALSE(pool.allocate_strings(1000, MemoryOwner::kInterpreter).ok());
  pool.set_limit(0);
  EXPECT_TRUE(pool.allocate(5000, MemoryOwner::kInterpreter).ok());
}

TEST(BufferPool, NothingIsANullBlock) {
  BufferPool pool;
  auto a = pool.allocate(0, MemoryOwner::kInterpreter);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->get()->data, nullptr);
  EXPECT_EQ(a->get()->bytes, 0u);
  a->reset();
  (void)pool.allocate(64, MemoryOwner::kInterpreter);
  EXPECT_EQ(pool.allocate(0, MemoryOwner::kInterpreter)->get()->data, nullptr);
}

TEST(BufferPool, StringsAreMadeAndDestroyed) {
  BufferPool pool;
  {
    auto r = pool.allocate_strings(10, MemoryOwner::kResults);
    ASSERT_TRUE(r.ok());
    auto* s = reinterpret_cast<std::string*>(r->get()->data);
    EXPECT_TRUE(r->get()->holds_strings);
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(s[i].empty());
      s[i] = std::string(100, 'x');
    }
    EXPECT_EQ(pool.stats().in_use, 320);
    EXPECT_TRUE(pool.allocate_strings(0, MemoryOwner::kResults).ok());
  }
  EXPECT_EQ(pool.stats().in_use, 0);
}

TEST(BufferPool, BlocksOutliveThePool) {
  StorageRef kept, strings;
  {
    BufferPool pool;
    kept = *pool.allocate(1000, MemoryOwner::kResults);
    strings = *pool.allocate_strings(3, MemoryOwner::kResults);
    (void)pool.allocate(500, MemoryOwner::kResults);
  }
  std::memset(kept->data, 1, 1000);
  kept.reset();
  reinterpret_cast<std::string*>(strings->data)[2] = std::string(50, 'y');
}

TEST(BufferPool, ThreadsShareIt) {
  BufferPool pool(int64_t{1} << 30);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<StorageRef> keep(16);
      for (int i = 0; i < 4000; ++i) {
        auto& slot = keep[static_cast<size_t>(i * 7 % 16)];
        auto r = pool.allocate(64 + (i * 37 + t * 11) % 5000, MemoryOwner::kScratch);
        if (!r.ok()) {
          ++wrong;
          continue;
        }
        std::memset((*r)->data, t + 1, 64);
        if (slot && slot->data[5] != std::byte(t + 1)) ++wrong;
        slot = *r;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(pool.stats().in_use, 0);
}

}  // namespace
}  // namespace msvm
