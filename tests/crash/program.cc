#include "tests/crash/program.h"

#include "throttle/random.h"

namespace heaprec::crash {
namespace {

std::vector<std::string> MakeClasses() {
  std::vector<std::string> classes;
  for (size_t i = 0; i < kNames; ++i)
    classes.push_back("app/model/Class" + std::to_string(i) + std::string(i % 40, 'x'));
  return classes;
}

std::vector<MethodNames> MakeMethods() {
  std::vector<MethodNames> methods;
  for (size_t i = 0; i < kNames; ++i) {
    methods.push_back({"app/code/Type" + std::to_string(i % 777), "method" + std::to_string(i), "(I)V"});
  }
  return methods;
}

}  // namespace

bool Object::FromSize(uint64_t size, Object* into) {
  if (size == 0 || size % 8 != 0) return false;
  const uint64_t index = size / 8 - 1;
  if (index / kMaxObjects >= kMaxThreads) return false;
  *into = {static_cast<uint32_t>(index / kMaxObjects), static_cast<uint32_t>(index % kMaxObjects)};
  return true;
}

uint64_t Object::Draw(uint64_t what) const { return throttle::Mix64(Size() * 31 + what); }

size_t Object::Pick(uint64_t what, size_t few) const {
  const uint64_t draw = Draw(what);
  return draw % 8 == 0 ? (draw >> 8) % kNames : (draw >> 8) % few;
}

const std::string& ClassName(size_t index) {
  static const std::vector<std::string> classes = MakeClasses();
  return classes[index];
}

const MethodNames& MethodOf(size_t index) {
  static const std::vector<MethodNames> methods = MakeMethods();
  return methods[index];
}

std::vector<std::string> FramesOf(const Object& object) {
  std::vector<std::string> frames;
  for (size_t i = 0; i < object.Depth(); ++i) {
    const size_t index = object.Method(i);
    const MethodNames& method = MethodOf(index);
    frames.push_back(method.class_name + "." + method.name + ":" + std::to_string(LineOf(index)));
  }
  return frames;
}

}  // namespace heaprec::crash
