// Runs a target on its seeds, on the files that were found once (corpus), and on a seeded few thousand mutations of
// them, so that every test run fuzzes a bit.
//
// Usage: TARGET [mutations [seed [FILE...]]]; a crash is repeated by the same words. TARGET --seeds FOLDER writes the
// seeds there, for libFuzzer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"

namespace heaprec::fuzz {
namespace {

class Mutator {
 public:
  Mutator(std::vector<Input> seeds, uint64_t seed) : seeds_(std::move(seeds)), random_(seed) {}

  Input Next() {
    Input input = seeds_[Below(seeds_.size())];
    for (uint64_t count = 1 + Below(6); count > 0; --count) Mutate(&input);
    return input;
  }

 private:
  uint64_t Below(uint64_t bound) { return bound < 2 ? 0 : random_() % bound; }

  void Mutate(Input* input) {
    if (input->empty()) input->push_back(0);
    const size_t at = Below(input->size());
    const size_t length = std::min<size_t>(1 + Below(16), input->size() - at);
    const auto begin = input->begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(length);
    switch (Below(7)) {
      case 0:
        *begin ^= static_cast<uint8_t>(1U << Below(8));
        break;
      case 1:
        *begin = static_cast<uint8_t>(random_());
        break;
      case 2:
        std::fill(begin, end, static_cast<uint8_t>(Below(2) * 0xff));
        break;
      case 3:
        input->erase(begin, end);
        break;
      case 4: {
        const Input copy(begin, end);
        input->insert(begin, copy.begin(), copy.end());
        break;
      }
      case 5: {  // splice
        const Input& other = seeds_[Below(seeds_.size())];
        const size_t from = Below(other.size());
        input->erase(begin, input->end());
        input->insert(input->end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
        break;
      }
      default:
        input->resize(at);
    }
  }

  std::vector<Input> seeds_;
  std::mt19937_64 random_;
};

Input FileAt(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path);
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteSeeds(const std::string& folder) {
  size_t number = 0;
  for (const Input& seed : Seeds()) {
    std::ofstream file(folder + "/seed-" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
}

}  // namespace
}  // namespace heaprec::fuzz

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--seeds") {
    heaprec::fuzz::WriteSeeds(argv[2]);
    return 0;
  }
  const uint64_t mutations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  auto seeds = heaprec::fuzz::Seeds();
  for (int i = 3; i < argc; ++i) seeds.push_back(heaprec::fuzz::FileAt(argv[i]));
  for (const auto& input : seeds) LLVMFuzzerTestOneInput(input.data(), input.size());
  heaprec::fuzz::Mutator mutator(seeds, seed);
  for (uint64_t i = 0; i < mutations; ++i) {
    const heaprec::fuzz::Input input = mutator.Next();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu seeds, %llu mutations, seed %llu: no failure\n", seeds.size(),
              static_cast<unsigned long long>(mutations), static_cast<unsigned long long>(seed));
}
