// Nothing is written over what is read.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace heaprec::tools {

// Whether `output` is the same file as one of the inputs, under whatever name. Standard input and output are no files.
inline bool IsOneOf(const std::string& output, const std::vector<std::string>& inputs) {
  return output != "-" && std::any_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
           std::error_code error;
           return input != "-" && std::filesystem::equivalent(output, input, error) && !error;
         });
}

}  // namespace heaprec::tools
