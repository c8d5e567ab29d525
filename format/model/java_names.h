// Java's own spelling of HotSpot's names.
//
// "java/lang/String" -> "java.lang.String"; "[[I" -> "int[][]"; "[Lx/Y;" -> "x.Y[]"; hidden classes:
// "p/C$$Lambda$14+0x0000000800c03000" and "p.C$$Lambda$14.0x0000000800c03000" -> "p.C$$Lambda$14/0x0000000800c03000".
// Never fails: a text that is not a class name is returned with '/' replaced by '.'.
#pragma once

#include <string>
#include <string_view>

namespace heaprec::format {

std::string JavaClassName(std::string_view internal_name);

}  // namespace heaprec::format
