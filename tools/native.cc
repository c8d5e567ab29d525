// heaprec native: native memory by call site: exactly, of a program with libheaprec-native.so, or sampled, of a
// recording.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "tools/complain.h"
#include "tools/native/symbols.h"
#include "tools/native/table_file.h"
#include "tools/native_memory.h"
#include "tools/native_recording.h"
#include "tools/render/output.h"
#include "tools/render/table.h"
#include "tools/render/terminal.h"
#include "tools/render/text.h"
#include "tools/render/utf8.h"
#include "tools/verb.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

enum class Order { kLive, kAllocated };

struct NativeOptions {
  std::string file;
  By by = By::kSite;
  Order order = Order::kLive;
  size_t limit = 20;
  size_t callers = 0;
  std::optional<double> leaks_s;
  std::string before;  // an older table
  bool categories = false;
  bool json = false;
};

struct NativeRowShown {
  std::string identity;  // the same in tables of other processes
  std::string name;
  std::vector<std::string> callers;  // of a site
  NativeSums sums;
  NativeSums before;  // in the older table

  int64_t Growth() const { return static_cast<int64_t>(sums.LiveBytes() - before.LiveBytes()); }
  int64_t BlockGrowth() const { return static_cast<int64_t>(sums.LiveBlocks() - before.LiveBlocks()); }
};

constexpr const char* kNoSite = "(no site)";

// "Parser::next [libparser.so]"
std::string InLibrary(const Symbols::Function& function) {
  return function.is_known ? fmt::format("{} [{}]", function.name, function.module) : function.name;
}

// Functions that allocate for whoever calls them: of C++, and of HotSpot.
bool IsHelper(const std::string& name) {
  constexpr std::string_view kHelpers[] = {"os::malloc(", "os::realloc(", "os::strdup", "AllocateHeap(",
                                           "ReallocateHeap("};
  return name.find("operator new") != std::string::npos ||
         std::ranges::any_of(kHelpers, [&](std::string_view helper) { return name.starts_with(helper); });
}

// The frame that the site is called after: of those that the table tells apart, the first that is no helper.
size_t FirstOf(const NativePlace& place, const NativeTableFile& table, Symbols* symbols) {
  const size_t end = std::min<size_t>(place.pcs.size(), place.first + table.depth);
  size_t first = place.first;
  while (first + 1 < end && IsHelper(symbols->At(place.pcs[first]).name)) ++first;
  return first;
}

std::string NameOf(const NativePlace& place, By by, const NativeTableFile& table, Symbols* symbols) {
  if (place.pcs.empty()) return kNoSite;
  const uint64_t pc = place.pcs[FirstOf(place, table, symbols)];
  const Symbols::Function& function = symbols->At(pc);
  if (by == By::kLibrary) return function.module;
  if (by == By::kMethod) return InLibrary(function);
  const auto module = std::ranges::find_if(table.modules.rbegin(), table.modules.rend(),
                                           [pc](const LoadedModule& one) { return one.begin <= pc && pc < one.end; });
  if (!function.is_known || module == table.modules.rend()) return InLibrary(function);
  return fmt::format("{} [{}+{:#x}]", function.name, function.module, pc - module->bias);
}

std::vector<NativeRowShown> RowsOf(const NativeTableFile& table, const NativeOptions& options) {
  Symbols symbols(table.modules);
  std::map<std::string, NativeRowShown> rows;
  for (const NativePlace& place : table.places) {
    std::string name = ToUtf8(NameOf(place, options.by, table, &symbols));
    // Sites of one name have different callers, where frames beyond the first tell them apart.
    std::string identity = name;
    std::vector<std::string> callers;
    if (options.by == By::kSite) {
      for (size_t i = FirstOf(place, table, &symbols) + 1; i < place.pcs.size(); ++i) {
        callers.push_back(ToUtf8(InLibrary(symbols.At(place.pcs[i]))));
        if (i < place.first + table.depth) identity += "\n" + callers.back();
      }
    }
    NativeRowShown& row = rows[identity];
    if (row.name.empty()) row = {identity, std::move(name), std::move(callers), {}, {}};
    row.sums += place.sums;
  }
  std::vector<NativeRowShown> sorted;
  for (auto& [identity, row] : rows) sorted.push_back(row);
  const auto size = [&](const NativeRowShown& row) {
    return options.order == Order::kLive ? row.sums.LiveBytes() : row.sums.allocated_bytes;
  };
  std::ranges::stable_sort(sorted, [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return sorted;
}

// By how much more is alive; what is gone comes last.
void Compare(const std::vector<NativeRowShown>& before, std::vector<NativeRowShown>* rows) {
  std::map<std::string, NativeRowShown> gone;
  for (const NativeRowShown& row : before) gone[row.identity] = row;
  for (NativeRowShown& row : *rows) {
    const auto old = gone.find(row.identity);
    if (old == gone.end()) continue;
    row.before = old->second.sums;
    gone.erase(old);
  }
  for (auto& [identity, row] : gone) {
    row.before = std::exchange(row.sums, {});
    rows->push_back(row);
  }
  std::ranges::stable_sort(*rows, std::greater<>(), &NativeRowShown::Growth);
}

std::string Signed(int64_t bytes) { return (bytes < 0 ? "-" : "+") + Bytes(std::abs(static_cast<double>(bytes))); }
std::string SignedCount(int64_t count) {
  return (count < 0 ? "-" : "+") + Grouped(static_cast<uint64_t>(std::abs(count)));
}

NativeSums TotalOf(const NativeTableFile& table) {
  NativeSums total;
  for (const NativePlace& place : table.places) total += place.sums;
  return total;
}

std::string OverrunOf(const NativeTableFile& table) {
  Symbols symbols(table.modules);
  return ToUtf8(NameOf(table.first_overrun, By::kSite, table, &symbols));
}

json AsJson(const NativeSums& sums) {
  return {{"live_bytes", sums.LiveBytes()},          {"live_blocks", sums.LiveBlocks()},
          {"allocated_bytes", sums.allocated_bytes}, {"allocated_blocks", sums.allocated_blocks},
          {"freed_bytes", sums.freed_bytes},         {"freed_blocks", sums.freed_blocks}};
}

json AsJson(const NativeTableFile& table, const std::vector<NativeRowShown>& rows, const char* by, bool compared) {
  json document = {{"schema", "heaprec.native/1"},
                   {"program", ToUtf8(table.program)},
                   {"pid", table.pid},
                   {"ended", table.has_ended},
                   {"start_ns", table.start_epoch_ns},
                   {"depth", table.depth},
                   {"exact", true},
                   {"sites", table.sites},
                   {"total", AsJson(TotalOf(table))},
                   {"before_start", {{"blocks", table.early_blocks}, {"bytes", table.early_bytes}}},
                   {"foreign_frees", table.foreign_frees},
                   {"calls_not_counted", table.without_chunk},
                   {"by", by},
                   {"rows", json::array()}};
  if (table.checks) document["overruns"] = table.overruns;
  if (table.overruns > 0) document["first_overrun"] = OverrunOf(table);
  for (const NativeRowShown& row : rows) {
    json object = AsJson(row.sums);
    object["name"] = row.name;
    if (compared) object["growth_bytes"] = row.Growth();
    if (compared) object["growth_blocks"] = row.BlockGrowth();
    if (!row.callers.empty()) object["callers"] = row.callers;
    document["rows"].push_back(object);
  }
  return document;
}

void AppendText(const NativeTableFile& table, const std::vector<NativeRowShown>& rows, const NativeOptions& options,
                const char* title, const Terminal& terminal, Text* into) {
  const NativeSums total = TotalOf(table);
  Append(*into,
         fmt::format("{} live in {} blocks, of {} allocated in {}; process {}, ",
                     Bytes(static_cast<double>(total.LiveBytes())), Grouped(total.LiveBlocks()),
                     Bytes(static_cast<double>(total.allocated_bytes)), Grouped(total.allocated_blocks), table.pid));
  AppendPrintable(*into, ToUtf8(table.program));
  Append(*into, table.has_ended ? ", when it ended\n\n" : ", which runs or was killed\n\n");
  const bool compared = !options.before.empty();
  Table shown(compared ? std::vector<Column>{{"growth"}, {"blocks", 5}, {"live", 8}, {"blocks", 4}}
                       : std::vector<Column>{{"live"}, {"blocks", 5}, {"allocated", 8}, {"blocks", 4}},
              title);
  const size_t count = options.limit > 0 ? std::min(options.limit, rows.size()) : rows.size();
  for (size_t i = 0; i < count; ++i) {
    const NativeRowShown& row = rows[i];
    std::vector<std::string> below(
        row.callers.begin(),
        row.callers.begin() + static_cast<ptrdiff_t>(std::min(options.callers, row.callers.size())));
    for (std::string& line : below) line = "  " + line;
    const Cell live{Bytes(static_cast<double>(row.sums.LiveBytes())), ""}, blocks{Grouped(row.sums.LiveBlocks()), ""};
    shown.Add(compared
                  ? std::vector<Cell>{{Signed(row.Growth()), ""}, {SignedCount(row.BlockGrowth()), ""}, live, blocks}
                  : std::vector<Cell>{live,
                                      blocks,
                                      {Bytes(static_cast<double>(row.sums.allocated_bytes)), ""},
                                      {Grouped(row.sums.allocated_blocks), ""}},
              row.name, "", below);
  }
  shown.AppendTo(terminal, into);
  if (count < rows.size()) {
    Append(*into, terminal.Dim(fmt::format("... {} more; --limit 0 shows all", Grouped(rows.size() - count))) + "\n");
  }
  if (table.overruns > 0) {
    Append(*into, fmt::format("\n{} blocks were written past their end, the first one of ", Grouped(table.overruns)));
    AppendPrintable(*into, OverrunOf(table));
    into->push_back('\n');
  } else if (table.checks) {
    Append(*into, "\nno block was found that was written past its end\n");
  }
  Append(*into, fmt::format("\n# exact; not counted: {} blocks ({}) from before the start, {} calls for want of "
                            "memory; {} frees of others' blocks\n",
                            Grouped(table.early_blocks), Bytes(static_cast<double>(table.early_bytes)),
                            Grouped(table.without_chunk), Grouped(table.foreign_frees)));
}

ExitCode NativeOfTable(const NativeOptions& options) {
  const auto table = ReadNativeTable(options.file);
  if (!table.ok()) {
    Complain(table.error().message);
    return ExitCode::kUnreadable;
  }
  std::vector<NativeRowShown> rows = RowsOf(*table, options);
  if (!options.before.empty()) {
    const auto older = ReadNativeTable(options.before);
    if (!older.ok()) {
      Complain(older.error().message);
      return ExitCode::kUnreadable;
    }
    Compare(RowsOf(*older, options), &rows);
  }
  const char* const title = options.by == By::kSite ? "site" : options.by == By::kMethod ? "function" : "library";
  Output output(STDOUT_FILENO);
  if (options.json) {
    output.Append(AsJson(*table, rows, title, !options.before.empty()).dump(2) + "\n");
  } else {
    AppendText(*table, rows, options, title, Terminal::Of(STDOUT_FILENO), &output.text());
  }
  output.Flush();
  return output.Report("standard output");
}

ExitCode RefuseLeaks(const std::string& file) {
  const auto table = ReadNativeTable(file);
  Complain(table.ok() ? file + ": --leaks: a table of sums does not tell ages; a recording with native=on does"
                      : table.error().message);
  return table.ok() ? ExitCode::kUsage : ExitCode::kUnreadable;
}

ExitCode Native(const NativeOptions& options) {
  if (options.categories) return ShowMemory({options.file, options.limit, options.json});
  if (!IsRecording(options.file)) {
    if (!options.leaks_s) return NativeOfTable(options);
    return RefuseLeaks(options.file);
  }
  return ShowNativeRecording({.file = options.file,
                              .by = options.by == By::kMethod ? By::kSite : options.by,
                              .by_live = options.order == Order::kLive,
                              .limit = options.json ? 0 : options.limit,
                              .callers = options.callers,
                              .least_age_ns = static_cast<uint64_t>(options.leaks_s.value_or(0) * 1e9),
                              .json = options.json});
}

}  // namespace

Verb DeclareNative(CLI::App& heaprec) {
  auto options = std::make_shared<NativeOptions>();
  CLI::App* verb = heaprec.add_subcommand("native",
                                          "Native memory by call site: sampled, of a recording with native=on; "
                                          "exactly, of a program with libheaprec-native.so");
  verb->add_option(
          "FILE", options->file,
          "A recording; heaprec-native-PID.bin; /dev/shm/heaprec-native-PID of a process that runs or was killed")
      ->required();
  verb->add_option("--by", options->by, "What a row is: site (default), function, library")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, By>{{"site", By::kSite}, {"function", By::kMethod}, {"library", By::kLibrary}},
          CLI::ignore_case))
      ->type_name("KEY");
  verb->add_option("--sort", options->order, "live (default) or allocated")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Order>{{"live", Order::kLive}, {"allocated", Order::kAllocated}}, CLI::ignore_case))
      ->type_name("KEY");
  verb->add_option("--limit", options->limit, "Rows; 0: all")->capture_default_str();
  verb->add_option("--callers", options->callers, "Callers below a site: of the first call that was counted there")
      ->capture_default_str();
  verb->add_option("--leaks", options->leaks_s,
                   "Of a recording: only what was not freed for so many seconds, or longer")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--before", options->before, "Of a table: what is alive more, and less, than in this older one")
      ->type_name("TABLE");
  verb->add_flag("--categories", options->categories,
                 "Of a recording: the JVM's own categories, RSS and PSS, over time");
  verb->add_flag("--json", options->json, "All rows as JSON");
  verb->footer(
      R"(Examples:
  LD_PRELOAD=/path/libheaprec-native.so ./program
  LD_PRELOAD=/path/libheaprec-native.so HEAPREC_NATIVE=file=n.bin,only=java,depth=8 java -jar app.jar
  heaprec native n.bin
  heaprec native --leaks 60 --callers 5 rec.bin
  cp /dev/shm/heaprec-native-4711 before.bin; sleep 60; heaprec native --before before.bin /dev/shm/heaprec-native-4711
  heaprec native --categories rec.bin
  heaprec native --by library --sort allocated n.bin)");
  return {verb, [options](const std::vector<std::string>&) { return Native(*options); }};
}

}  // namespace heaprec::tools
