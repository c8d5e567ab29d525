// Sources of imported recordings, as their headers have them. docs/decisions/0012-imported-weights.md
#pragma once

#include <string_view>

namespace heaprec::tools {

// Samples of another recorder: their weights are biased, and their chances of inclusion are not known.
inline constexpr char kImported[] = "imported";
// Samples of heaprec's that went through another format: unbiased, but windows and counts are lost.
inline constexpr char kImportedOwn[] = "imported from heaprec";

// In `source_reason` beside SourceFact::kOriginalDoubted; the original's reasons follow it.
inline constexpr std::string_view kWasDoubted = "the exported recording was not trustworthy: ";

// Whether only the old objects of an import were tracked: nothing stands for the samples that were not.
inline bool IsImported(std::string_view source) { return source == kImported || source == kImportedOwn; }

// Whether sums of recordings from this source are biased, however many samples there are.
inline bool IsBiased(std::string_view source) { return source == kImported; }

}  // namespace heaprec::tools
