// The first bytes of a recording: a prefix with a hash, then tagged fields.
//
// Failure:  DecodeFileHeader returns an Error that says what is wrong, without the name of the source.
// Format:   docs/format/recording.md#file-header
#pragma once

#include "base/result.h"
#include "format/bytes/bytes.h"
#include "format/model/model.h"

namespace heaprec::format {

// Suffix of a file that is still being copied. The complete copy is renamed to the name without it.
inline constexpr char kUnfinishedSuffix[] = ".unfinished";

ByteBuffer EncodeFileHeader(const FileHeader& header);
// The fields without the prefix; each chunk has a copy of them.
ByteBuffer EncodeHeaderFields(const FileHeader& header);
Result<FileHeader> DecodeHeaderFields(Bytes fields);

// Returns the size of the whole header, from its first kFilePrefixBytes.
Result<size_t> FileHeaderBytes(Bytes prefix);
// `bytes`: exactly as many as FileHeaderBytes returns. If IsUndamaged, the header's hash matches, so another error is
// not caused by damage.
Result<FileHeader> DecodeFileHeader(Bytes bytes);
bool IsUndamaged(Bytes header);

}  // namespace heaprec::format
