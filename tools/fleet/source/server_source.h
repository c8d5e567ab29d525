// The fleet's sums from a server: it adds up, and this asks.
//
// Failure:  the server's sentence.
#pragma once

#include <memory>
#include <string>

#include "tools/fleet/server/schema.h"
#include "tools/fleet/server/server.h"
#include "tools/fleet/source/source.h"
#include "tools/fleet/source/sql_builder.h"

namespace heaprec::tools::fleet {

class ServerSource final : public Source {
 public:
  // `server` outlives this.
  static format::Result<std::unique_ptr<ServerSource>> Open(Server* server);

  uint32_t slice_seconds() const override { return schema_.slice_seconds; }
  format::Result<std::vector<RecordingInfo>> Recordings() override;
  format::Result<std::map<uint64_t, Totals>> TotalsOf(const TimeRange& range,
                                                      const std::vector<uint64_t>& recordings) override;
  format::Result<std::vector<StepTotals>> TotalsByTime(const TimeRange& range, const std::vector<uint64_t>& recordings,
                                                       uint32_t step) override;
  format::Result<std::vector<PooledRow>> Pool(const PoolQuery& query) override;
  format::Result<std::vector<Moments>> Compare(const CompareQuery& query) override;
  format::Result<std::vector<UnitRate>> Rates(RowGrain by, const RowFilter& filter, const Side& side) override;
  format::Result<std::vector<LiveMoment>> LiveMoments(const TimeRange& range,
                                                      const std::vector<uint64_t>& recordings) override;
  format::Result<std::vector<PooledLive>> Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                               const RowFilter& filter) override;
  format::Result<std::vector<FleetSample>> Samples(const SampleQuery& query) override;
  format::Result<std::vector<FleetStack>> StacksOf(const std::vector<uint64_t>& ids) override;
  format::Result<std::vector<NamedId>> Names(NameKind kind) override;
  format::Result<std::map<uint64_t, std::string>> NamesOf(NameKind kind, const std::vector<uint64_t>& ids) override;

 private:
  ServerSource(Server* server, Schema schema) : server_(*server), schema_(std::move(schema)) {}
  std::string Table(const std::string& name) const { return server_.database() + "." + schema_.Table(name); }
  format::Result<std::string> Rows(RowQuery query);
  format::Result<OpenHours> FindOpenHours(const TimeRange& range);
  format::Result<std::string> SideSql(const CompareQuery& query, const Side& side, bool is_before);

  Server& server_;
  const Schema schema_;
  // Open hours of the last requested range.
  TimeRange open_range_{1, 0};
  OpenHours open_hours_;
};

}  // namespace heaprec::tools::fleet
