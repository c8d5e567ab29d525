// Names that a JVM makes up while it runs: other ones in each run, so that two recordings compare only without what is
// made up.
//
// "p.Map$$Lambda$141/0x00007f0f84115150.apply" and, since JDK 21, "p.Map$$Lambda/0x00007f0f84115150.apply" become
// "p.Map$$Lambda.apply"; "java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke" loses its address,
// "jdk.proxy2.$Proxy17" and "GeneratedMethodAccessor3" their numbers.
//
// Threads:  any.
#pragma once

#include <string>
#include <string_view>

namespace heaprec::tools {

std::string StripGeneratedSuffix(std::string_view name);

}  // namespace heaprec::tools
