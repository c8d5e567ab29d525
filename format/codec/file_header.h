// The first bytes of a recording: prefix with hash, then tagged fields.
//
// Failure:  DecodeFileHeader: an Error that says what is wrong (no name of the source in it).
// Format:   docs/format/recording.md#file-header
#pragma once

#include "format/bytes/bytes.h"
#include "format/bytes/result.h"
#include "format/model/model.h"

namespace heaprec::format {

// Behind the name of a file that is still being copied, to take the name without it when it is whole.
inline constexpr char kUnfinishedSuffix[] = ".unfinished";

ByteBuffer EncodeFileHeader(const FileHeader& header);
// The fields alone, of which each chunk has a copy.
ByteBuffer EncodeHeaderFields(const FileHeader& header);
Result<FileHeader> DecodeHeaderFields(Bytes fields);

// The size of the whole header, from its first kFilePrefixBytes.
Result<size_t> FileHeaderBytes(Bytes prefix);
// `bytes`: exactly as many as FileHeaderBytes says. IsUndamaged: its hash holds, so that what else is wrong is no
// damage.
Result<FileHeader> DecodeFileHeader(Bytes bytes);
bool IsUndamaged(Bytes header);

}  // namespace heaprec::format
