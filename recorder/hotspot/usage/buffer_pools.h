// Reads how much memory java.nio's direct and mapped buffers have, from the static fields in which the JDK counts it.
//
// Classes are neither loaded nor initialised for it, and no Java code runs.
//
// Units:    bytes, and numbers of buffers.
// Context:  Find: setup, an attached thread. Read, Release: likewise, in native state, without a pending exception.
// Threads:  one.
// Failure:  nothing is taken while the program has used no such buffer, or if this JDK has other fields.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "format/model/process_account.h"

namespace heaprec::hotspot {

class BufferPools {
 public:
  // What it allocates in the Java heap it allocates here. `jni` null: nothing will be read.
  static BufferPools Find(jvmtiEnv* jvmti, JNIEnv* jni);
  void Read(JNIEnv* jni, format::ProcessAccount* account);
  // Gives up the references. Nothing is read any more.
  void Release(JNIEnv* jni);

 private:
  // A class of the JDK whose fields are read once it is initialised.
  struct Holder {
    const char* name;
    jstring text = nullptr;  // global references
    jclass found = nullptr;
    bool is_given_up = false;
  };
  using FindLoadedClass = jclass (*)(JNIEnv*, jobject loader, jstring name);

  jclass Initialised(JNIEnv* jni, Holder* holder);
  void TakeDirect(JNIEnv* jni);
  void TakeMapped(JNIEnv* jni);

  jvmtiEnv* jvmti_ = nullptr;
  FindLoadedClass find_ = nullptr;  // null: there is no such function
  Holder bits_{"java/nio/Bits"}, mappings_{"sun/nio/ch/FileChannelImpl$DefaultUnmapper"};
  jfieldID limit_ = nullptr, value_ = nullptr;  // of the direct buffers; of an AtomicLong
  jobject reserved_ = nullptr, direct_count_ = nullptr;
  jfieldID mapped_bytes_ = nullptr, mapped_count_ = nullptr;
};

}  // namespace heaprec::hotspot
