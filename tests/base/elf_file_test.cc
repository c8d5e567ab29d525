#include "base/elf_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>

namespace heaprec::format {
namespace {

constexpr char kName[] = "some.elf";

Result<ElfFile> Opened(const std::string& bytes) {
  return ElfFile::Open(kName, [bytes](uint64_t offset, void* out, size_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) return false;
    std::memcpy(out, bytes.data() + offset, size);
    return true;
  });
}

// A whole ELF file in about 600 bytes: null, strings of sections, .symtab of two symbols, .strtab, build id, debug
// link.
std::string SmallElf() {
  const std::string section_names("\0.shstrtab\0.symtab\0.strtab\0.note.gnu.build-id\0.gnu_debuglink\0", 61);
  const std::string strings("\0first\0second\0", 14);
  const std::string note("\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xab\xcd\0\0", 20);
  const std::string link("libjvm.debug\0\0\0\0\1\2\3\4", 20);
  Elf64_Sym symbols[3] = {};
  symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 0x1000};
  symbols[2] = {7, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1800, 0x10};
  Elf64_Shdr sections[6] = {};
  std::string body(sizeof(Elf64_Ehdr), '\0');
  const auto add = [&body, &sections](int index, uint32_t type, uint32_t name, const std::string& bytes) {
    sections[index].sh_type = type;
    sections[index].sh_name = name;
    sections[index].sh_offset = body.size();
    sections[index].sh_size = bytes.size();
    body += bytes;
  };
  add(1, SHT_STRTAB, 1, section_names);
  add(2, SHT_SYMTAB, 11, {reinterpret_cast<const char*>(symbols), sizeof symbols});
  add(3, SHT_STRTAB, 19, strings);
  add(4, SHT_NOTE, 27, note);
  add(5, SHT_PROGBITS, 46, link);
  sections[2].sh_entsize = sizeof(Elf64_Sym);
  sections[2].sh_link = 3;
  Elf64_Ehdr header = {};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = body.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 6;
  header.e_shstrndx = 1;
  body.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
  return body + std::string(reinterpret_cast<const char*>(sections), sizeof sections);
}

// Reads everything there is to read; the sanitizers watch.
size_t ReadAll(const std::string& bytes) {
  const auto file = Opened(bytes);
  if (!file) return 0;
  size_t seen = file->BuildId().size() + file->DebugLink().size();
  if (const auto symbols = file->ReadSymbols(SHT_SYMTAB))
    for (const Elf64_Sym& symbol : symbols->entries) seen += symbols->Name(symbol).size();
  return seen;
}

TEST_CASE("Build id, debug link and symbols of a small file are read") {
  const auto file = Opened(SmallElf());
  REQUIRE(file.ok());
  CHECK(file->BuildId() == "abcd");
  CHECK(file->DebugLink() == "libjvm.debug");
  const auto symbols = file->ReadSymbols(SHT_SYMTAB);
  REQUIRE(symbols.ok());
  REQUIRE(symbols->entries.size() == 3);
  CHECK(symbols->Name(symbols->entries[1]) == "first");
  CHECK(symbols->Name(symbols->entries[2]) == "second");
  CHECK(symbols->entries[2].st_value == 0x1800);
}

TEST_CASE("A function is found although another one overlaps it") {
  const ElfFunctions functions("", "abcd", [](const std::string&) { return Opened(SmallElf()); });
  const auto is = [&](uint64_t address, const std::string& symbol, uint32_t offset) {
    const ElfFunctions::Function function = functions.At(address);
    return function.symbol == symbol && function.offset == offset;
  };
  CHECK(is(0xfff, "", 0));
  CHECK(is(0x17ff, "first", 0x7ff));
  CHECK(is(0x180f, "second", 0xf));
  CHECK(is(0x1810, "first", 0x810));
  CHECK(is(0x2000, "", 0));
}

TEST_CASE("A truncated file is an error or has fewer symbols, never more") {
  const std::string whole = SmallElf();
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(Opened(whole.substr(0, size)).ok());  // the section headers come last
  }
}

TEST_CASE("Damaged files are read within their bounds") {
  const std::string whole = SmallElf();
  const size_t expected = ReadAll(whole);
  REQUIRE(expected > 0);
  std::mt19937_64 random(20);
  size_t different = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (auto n = random() % 4 + 1; n > 0; --n) damaged[random() % damaged.size()] = static_cast<char>(random());
    different += ReadAll(damaged) != expected;
  }
  CHECK(different > 1000);  // the damage was met
}

TEST_CASE("An unterminated entry of a string table has no name") {
  ElfFile::Symbols symbols;
  symbols.strings = std::string("\0end", 4);
  Elf64_Sym symbol = {};
  symbol.st_name = 1;
  CHECK(symbols.Name(symbol).empty());
  symbol.st_name = 0xffffffff;
  CHECK(symbols.Name(symbol).empty());
}

TEST_CASE("The error for a file that is not 64-bit ELF names the file") {
  for (const std::string& bytes : {std::string(), std::string(5000, 'x')}) {
    const auto opened = Opened(bytes);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().message.find(kName) == 0);
  }
}

TEST_CASE("Notes with wrong sizes are skipped") {
  const std::string huge("\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0", 16);
  CHECK(BuildIdIn(huge).empty());
  const std::string name("\xff\xff\xff\xff\4\0\0\0\3\0\0\0GNU\0", 16);
  CHECK(BuildIdIn(name).empty());
  const std::string other("\4\0\0\0\0\0\0\0\1\0\0\0GNU\0", 16);
  const std::string good("\4\0\0\0\1\0\0\0\3\0\0\0GNU\0\x5a\0\0\0", 20);
  CHECK(BuildIdText(BuildIdIn(other + good)) == "5a");
}

}  // namespace
}  // namespace heaprec::format
