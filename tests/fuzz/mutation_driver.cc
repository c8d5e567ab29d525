// Runs targets on their seeds, on the files that were found once (corpus), and on a seeded few thousand mutations of
// them, so that every test run fuzzes a bit.
//
// Usage: fuzz_test [TARGET [MUTATIONS [SEED]]], all targets without a name; a crash is repeated by the same words.
// PROGRAM --seeds FOLDER writes the seeds of its only target there, for libFuzzer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

// In the same order every time.
void AddCorpus(const std::string& name, std::vector<Input>* inputs) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/corpus/" + name)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
      std::exit(2);
    }
    inputs->emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
}

void WriteSeeds(const std::string& folder) {
  size_t number = 0;
  for (const Input& seed : Targets().front().seeds()) {
    std::ofstream file(folder + "/seed-" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
}

void Run(const Target& target, uint64_t mutations, uint64_t seed) {
  std::printf("%s, seed %llu: ", target.name, static_cast<unsigned long long>(seed));
  std::fflush(stdout);  // a crash is named
  std::vector<Input> inputs = target.seeds();
  AddCorpus(target.name, &inputs);
  for (const Input& input : inputs) target.check(input.data(), input.size());
  Mutator mutator(inputs, seed);
  for (uint64_t i = 0; i < mutations; ++i) {
    const Input input = mutator.Next();
    target.check(input.data(), input.size());
  }
  std::printf("%zu inputs, %llu mutations, no failure\n", inputs.size(), static_cast<unsigned long long>(mutations));
}

int Main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (argc == 3 && name == "--seeds") {
    WriteSeeds(argv[2]);
    return 0;
  }
  std::vector<Target>& targets = Targets();
  std::sort(targets.begin(), targets.end(),
            [](const Target& a, const Target& b) { return std::string_view(a.name) < b.name; });
  bool has_run = false;
  for (const Target& target : targets) {
    if (!name.empty() && name != target.name) continue;
    Run(target, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : target.mutations,
        argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
    has_run = true;
  }
  if (!has_run) std::fprintf(stderr, "no such target\n");
  return has_run ? 0 : 2;
}

}  // namespace
}  // namespace heaprec::fuzz

int main(int argc, char** argv) { return heaprec::fuzz::Main(argc, argv); }
