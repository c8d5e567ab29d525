// Sources of imported recordings, as their headers have them. docs/decisions/0011-imported-weights.md
#pragma once

namespace heaprec::tools {

// Samples of another recorder: their weights are biased, and their chances of inclusion are not known.
inline constexpr char kImported[] = "imported";
// Samples of heaprec's that went through another format: unbiased, but windows and counts are lost.
inline constexpr char kImportedOwn[] = "imported from heaprec";

}  // namespace heaprec::tools
