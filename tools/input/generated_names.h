// Names of classes that a JVM or a framework makes up while it runs: other ones in each run, or thousands of one
// template. What differs in made-up parts only is one name wherever recordings are added up or compared.
//
// Marked as made up, and so left out at once (StripGeneratedSuffix): "p.Map$$Lambda$141/0x00007f0f84115150" and
// "p.Map$$Lambda/0x00007f0f84115150" become "p.Map$$Lambda", "java.lang.invoke.LambdaForm$MH/0x0000000800c03000" loses
// its address, "jdk.proxy2.$Proxy17" and "GeneratedMethodAccessor3" their numbers,
// "p.S$$EnhancerBySpringCGLIB$$1a2b3c4d" and "p.D$HibernateProxy$AbCdEf1u" their last word. The lambdas of a class stay
// apart by what is known of them: "p.Map$$Lambda[lambda$main$3]".
//
// Any other number means something, unless the names say otherwise: "Script1111" and "Script2222" become "Script#" if
// of each recording with such names most are in no other recording, or if one recording has more than kMostOfTemplate
// of them. That is known only when all have been read, which must then be read again (MergedNames::Settle).
//
// Threads:  one, for each MergedNames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "format/model/model.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

inline constexpr std::string_view kLambda = "$$Lambda";

std::string StripGeneratedSuffix(std::string_view name);

class MergedNames {
 public:
  static constexpr size_t kMostOfTemplate = 50;

  // `settles`: everything can be read again, so that numbers that the names do not mark may be merged.
  explicit MergedNames(bool settles = true) : settles_(settles) {}

  // The names to come are of this recording; parts of one have the same id.
  void Start(const format::RecordingId& id) {
    recording_ = recordings_.try_emplace(id, static_cast<uint32_t>(recordings_.size())).first->second;
    known_.clear();
  }
  // How the class `name`, in Java's spelling, is shown. `label`: what tells a lambda from others of its class.
  std::string Of(std::string_view name, std::string_view label = {});
  // After everything was read: whether more names have turned out to be one. If so, all of it must be read again, once
  // (ReadNamed).
  bool Settle();
  // "8,000 generated names of classes are shown as 3; --names exact keeps them apart"; empty: none became another's.
  std::string Text() const;

 private:
  using Recordings = std::set<uint32_t>;
  using Family = std::unordered_map<std::string, Recordings>;  // by name
  static bool IsOneName(const Family& family);
  std::string Find(std::string_view name, std::string_view label);
  void Note(std::string_view name, const std::string& shown);

  const bool settles_;
  std::map<format::RecordingId, uint32_t> recordings_;
  uint32_t recording_ = 0;
  std::unordered_map<std::string, Family> families_;       // by template
  std::unordered_set<std::string> one_name_;               // templates of which all are one
  std::unordered_set<std::string> seen_;                   // made-up names with what they are shown as
  std::unordered_map<std::string, uint64_t> merged_into_;  // by what is shown: of how many
  // Of the current recording, by name and label: each chunk has most of the names that those before it had.
  std::unordered_map<std::string, std::string> known_;
};

// Calls `read(is_again)`, and a second time if it could read and more names have turned out to be one. null: names stay
// as they are.
template <typename Read>
ExitCode ReadNamed(MergedNames* merged, Read read) {
  const ExitCode code = read(/*is_again=*/false);
  const bool is_read = code == ExitCode::kOk || code == ExitCode::kDamaged;
  return is_read && merged != nullptr && merged->Settle() ? read(/*is_again=*/true) : code;
}

}  // namespace heaprec::tools
