// Files and what is read from them, without programs: events are made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "msvm/base/file.h"
#include "observe/trace/block.h"
#include "observe/trace/csv.h"
#include "observe/trace/encode.h"
#include "observe/trace/perfetto.h"
#include "observe/trace/summary.h"

namespace msvm::observe {
namespace {

/// A log in the making; a tick is a nanosecond.
class Log {
 public:
  Log() {
    header_.ns_per_tick = 1;
    header_.core_gflops = 100;
    header_.wall_ns = 1'700'000'000'000'000'000;
    header_.event_bytes = sizeof(Event);
    header_.checksum = checksum_of(header_);
  }
  TextId text(std::string t) {
    texts_.push_back({static_cast<TextId>(texts_.size() + 1), 1, std::move(t)});
    return texts_.back().id;
  }
  Event& add(EventKind kind, int64_t begin, int64_t ns, uint32_t run = 1) {
    Event& e = events_.emplace_back();
    e.kind = kind;
    e.begin = begin;
    e.end = begin + ns;
    e.run = run;
    e.thread = 7;
    e.program = program_;
    return e;
  }
  void program(std::string table) { program_ = text(std::move(table)); }
  std::vector<std::byte> bytes() {
    const auto head = std::as_bytes(std::span(&header_, 1));
    std::vector<std::byte> out(head.begin(), head.end());
    uint64_t sequence = 0;
    for (const Block& b : make_blocks(texts_, events_, sequence, 3)) out.insert(out.end(), b.begin(), b.end());
    return out;
  }
  TraceLog read() { return std::move(*TraceLog::parse(bytes(), "t.bclog")); }
  std::vector<Event>& events() { return events_; }

 private:
  FileHeader header_;
  std::vector<EventStream::Text> texts_;
  std::vector<Event> events_;
  TextId program_ = 0;
};

template <class F>
std::string written(F&& write) {
  char* data = nullptr;
  size_t size = 0;
  std::FILE* f = open_memstream(&data, &size);
  EXPECT_TRUE(write(f).ok());
  std::fclose(f);
  std::string out(data, size);
  std::free(data);
  return out;
}

TEST(Encode, GivesBackWhatItGot) {
  std::mt19937_64 random(1);
  std::vector<Event> events(500);
  for (Event& e : events) {
    e.kind = static_cast<EventKind>(random() % kEventInfo.size());
    e.tier = static_cast<uint8_t>(random() % 3);
    e.begin = static_cast<int64_t>(random() >> (random() % 64));
    e.end = static_cast<int64_t>(random() >> (random() % 64));
    e.function = static_cast<uint16_t>(random());
    e.program = static_cast<TextId>(random() >> (random() % 64));
    e.instruction = static_cast<int32_t>(random());
    e.region = static_cast<int32_t>(random());
    e.name = static_cast<TextId>(random());
    e.detail = static_cast<TextId>(random());
    e.bytes = static_cast<int64_t>(random());
    e.work = static_cast<double>(random() >> 12);
    e.thread = static_cast<uint32_t>(random());
    e.run = static_cast<uint32_t>(random());
  }
  const auto bytes = encode_events(events);
  ByteReader in(bytes);
  std::vector<Event> again;
  decode_events(in, 500, again);
  ASSERT_TRUE(in.ok() && in.at_end()) << in.status().message();
  for (size_t k = 0; k < events.size(); ++k) {
    const Event &a = events[k], &b = again[k];
    EXPECT_TRUE(a.kind == b.kind && a.tier == b.tier && a.begin == b.begin && a.end == b.end && a.function == b.function && a.program == b.program && a.instruction == b.instruction && a.region == b.region &&
                a.name == b.name && a.detail == b.detail && a.bytes == b.bytes && a.work == b.work && a.thread == b.thread && a.run == b.run)
        << k;
  }
}

TEST(Log, EventsComeByTimeWithTheirTexts) {
  Log log;
  log.program("net\n@main\nTENSOR_CREATE\t\t\t\nOP_CALL\tConv\tnet.py:4\tconv_1\n");
  const TextId kernel = log.text("conv_nhwc");
  log.add(EventKind::kCall, 300, 20).instruction = 1;
  log.events().back().name = kernel;
  log.add(EventKind::kRun, 100, 250);
  const TraceLog read = log.read();
  ASSERT_EQ(read.events().size(), 2u);
  EXPECT_EQ(read.events()[0].kind, EventKind::kRun);
  const Event& call = read.events()[1];
  EXPECT_EQ(read.text(call.name), "conv_nhwc");
  EXPECT_EQ(read.program(call).name, "net");
  EXPECT_EQ(read.function_name(call), "main");
  EXPECT_EQ(read.instruction(call)->op, "Conv");
  EXPECT_EQ(read.instruction(call)->place, "net.py:4");
  EXPECT_EQ(read.instruction(call)->origins, "conv_1");
  EXPECT_EQ(read.dropped(), 3u);
  EXPECT_THAT(read.damage(), testing::IsEmpty());
}

TEST(Log, EveryCutIsReadAsFarAsItGoes) {
  Log log;
  log.program("net\n@main\n");
  for (int k = 0; k < 10; ++k) log.add(EventKind::kRun, k * 100, 50, static_cast<uint32_t>(k + 1));
  const auto bytes = log.bytes();
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto cut = TraceLog::parse(std::span(bytes).first(n), "t.bclog");
    ASSERT_EQ(cut.ok(), n >= sizeof(FileHeader)) << n;
    if (cut.ok()) {
      EXPECT_EQ(cut->events().size(), 0u);
    }
  }
}

TEST(Log, OneFlippedBitAnywhereIsNoticed) {
  Log log;
  log.program("net\n@main\n");
  log.add(EventKind::kRun, 5, 50);
  const auto bytes = log.bytes();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto broken = bytes;
    broken[bit / 8] ^= std::byte(1 << bit % 8);
    const auto read = TraceLog::parse(broken, "t.bclog");
    EXPECT_TRUE(!read.ok() || !read->damage().empty()) << bit;
  }
}

TEST(Csv, QuotesAndNumbers) {
  Log log;
  log.program("a, \"b\"\n@main\nOP_CALL\tMatMul\tnet.py:4\t\n");
  Event& e = log.add(EventKind::kCall, 1'500'000, 2000);
  e.instruction = 0;
  e.tier = 1;
  e.work = 40'000;
  e.bytes = 12;
  const TextId shapes = log.text("f32[2] -> f32[2]");
  log.events().back().detail = shapes;
  const TraceLog read = log.read();
  const std::string csv = written([&](std::FILE* f) { return write_csv(read, f); });
  EXPECT_EQ(csv.substr(csv.find('\n') + 1),
            "2023-11-14T22:13:20.001500Z,0.001500,2.000,7,1,call,\"a, \"\"b\"\"\",main,0,OP_CALL,MatMul,net.py:4,,1,native,,f32[2] -> f32[2],12,4e-05,20,0.2,\n");
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "time,seconds,duration_us,thread,run,kind,program,function,instruction,mnemonic,operator,place,region,tier,mode,name,shapes,bytes,gflop,gflops,peak_share,what");
}

TEST(Perfetto, IsJsonWithASliceForEachEvent) {
  Log log;
  log.program("net\n@main\nOP_CALL\tRelu\tnet.py:4\t\n");
  log.add(EventKind::kRun, 1000, 900);
  log.add(EventKind::kCall, 1100, 300).instruction = 0;
  log.add(EventKind::kJit, 1500, 0);
  const TextId patch = log.text("hot patch");
  log.events().back().name = patch;
  const TraceLog read = log.read();
  const auto j = nlohmann::json::parse(written([&](std::FILE* f) { return write_perfetto(read, f); }));
  std::vector<std::string> names;
  for (const auto& e : j["traceEvents"])
    if (e["ph"] != "M") names.push_back(e["ph"].get<std::string>() + " " + e["name"].get<std::string>());
  EXPECT_THAT(names, testing::ElementsAre("X net @main", "X Relu", "i hot patch"));
}

/// Runs of one call each, the call `ns` long.
void add_run(Log& log, uint32_t run, int64_t ns, TextId kernel, TextId shapes) {
  const int64_t begin = run * 10'000'000;
  log.add(EventKind::kRun, begin, ns + 1000, run);
  Event& call = log.add(EventKind::kCall, begin + 500, ns, run);
  call.instruction = 0;
  call.name = kernel;
  call.detail = shapes;
}

TEST(Outliers, NameTheirCause) {
  Log log;
  log.program("net\n@main\nOP_CALL\tConv\tnet.py:4\t\n");
  const TextId fast = log.text("fast"), slow = log.text("ref_conv"), shapes = log.text("f32[1] -> f32[1]"), other = log.text("f32[9] -> f32[9]"), signature = log.text("jit_cache_1");
  add_run(log, 1, 900'000, fast, shapes);
  for (uint32_t k = 2; k < 20; ++k) add_run(log, k, 100'000, fast, shapes);
  add_run(log, 20, 800'000, slow, shapes);
  add_run(log, 21, 700'000, fast, shapes);
  log.add(EventKind::kCompile, 21 * 10'000'000 - 100, 5'000'000, 0).name = signature;
  add_run(log, 22, 600'000, fast, shapes);
  for (uint32_t k = 23; k < 26; ++k) add_run(log, k, 5'000'000, fast, other);  // too few to say what is usual
  add_run(log, 26, 100'000, fast, shapes);
  log.events()[log.events().size() - 2].end += 2'000'000;
  Event& wait = log.add(EventKind::kBetween, 26 * 10'000'000 + 200'000, 1'500'000, 26);
  wait.instruction = 0;
  const TraceLog read = log.read();
  std::map<std::string, std::string> causes;  // by kind and run
  for (const Outlier& o : find_outliers(read)) {
    const Event& e = read.events()[o.event];
    causes[std::string(event_info(e.kind).name) + std::to_string(e.run)] = o.cause;
    if (e.kind == EventKind::kCall) {
      EXPECT_EQ(o.usual_ns, 100'000);
    }
  }
  const std::map<std::string, std::string> expected = {
      {"call1", "the first at these shapes: kernels are chosen, weights packed, memory planned"},
      {"run1", "instruction 0 Conv (net.py:4): the first at these shapes: kernels are chosen, weights packed, memory planned"},
      {"call20", "ref_conv instead of fast"},
      {"run20", "instruction 0 Conv (net.py:4): ref_conv instead of fast"},
      {"call21", "while jit_cache_1 was compiled, which took a core"},
      {"run21", "instruction 0 Conv (net.py:4): while jit_cache_1 was compiled, which took a core"},
      {"call22", "unknown: nothing in the trace explains it; the thread may have waited for a core"},
      {"run22", "instruction 0 Conv (net.py:4): unknown: nothing in the trace explains it; the thread may have waited for a core"},
  };
  for (const auto& [key, cause] : expected) EXPECT_EQ(causes[key], cause) << key;
}

TEST(Summary, AddsUp) {
  Log log;
  log.program("net\n@main\nOP_CALL\tConv\tnet.py:4\t\n");
  const TextId kernel = log.text("fast"), error = log.text("it broke");
  for (uint32_t k = 1; k <= 4; ++k) {
    log.add(EventKind::kRun, k * 1000, 500, k).tier = k > 2 ? 2 : 0;
    Event& region = log.add(EventKind::kRegion, k * 1000 + 10, 400, k);
    region.region = 0;
    region.tier = k > 2 ? 2 : 0;
    Event& call = log.add(EventKind::kCall, k * 1000 + 20, 100 * k, k);
    call.instruction = 0;
    call.name = kernel;
    call.work = 5000;
    call.bytes = 300;
  }
  log.events()[0].name = error;
  const TraceLog read = log.read();
  const TraceSummary s = summarize(read);
  ASSERT_EQ(s.programs.size(), 1u);
  const ProgramSummary& p = s.programs[0];
  EXPECT_EQ(p.runs, 4);
  EXPECT_EQ(p.failed, 1);
  EXPECT_EQ(p.by_tier[0], 2);
  EXPECT_EQ(p.by_tier[2], 2);
  EXPECT_EQ(p.specialised_regions, 2);
  ASSERT_EQ(p.rows.size(), 1u);
  EXPECT_EQ(p.rows[0].sum.count, 4);
  EXPECT_EQ(p.rows[0].sum.ns, 1000);
  EXPECT_EQ(p.rows[0].sum.gflops(), 20);
  EXPECT_EQ(p.rows[0].sum.gbytes_per_s(), 1.2);
  EXPECT_EQ(s.kernels.at("fast").count, 4);
  EXPECT_THAT(to_text(s, read), testing::HasSubstr("program net: 4 runs, 1 failed"));
  EXPECT_EQ(nlohmann::json::parse(to_json(s, read))["programs"][0]["instructions"][0]["operator"], "Conv");
}

}  // namespace
}  // namespace msvm::observe
