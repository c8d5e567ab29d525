// The agent of this process: from Agent_OnLoad or Agent_OnAttach to the JVM's death.
//
// Context:  setup, but for what the event callbacks pass on to recorder/sources.
// Failure:  whatever fails, the JVM runs on (exits only with `strict` at load): one line on stderr.
#pragma once

#include <jvmti.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "recorder/agent/jvm.h"
#include "recorder/agent/options.h"
#include "recorder/agent/recording.h"

namespace heaprec::agent {

class Agent {
 public:
  static Agent& Instance();  // JVMTI's callbacks carry no pointer of ours

  // Both return a JNI status: JNI_OK unless `strict` asks for the JVM's end.
  jint OnLoad(JavaVM* vm, const char* options);
  jint OnAttach(JavaVM* vm, const char* options);

  void OnVmInit(JNIEnv* jni);
  void OnVmDeath();
  const Jvm* jvm() const { return jvm_.get(); }

 private:
  format::Result<Options> TakeOptions(const char* text);
  format::Result<std::monostate> MakeEnvironment(JavaVM* vm);
  // Starts now, or after the delay.
  format::Result<std::monostate> Begin(JNIEnv* jni);
  format::Result<std::monostate> StartRecording(JNIEnv* jni);
  void StartAfterDelay();
  struct Choice {
    SourceChoice source;
    std::string why;
  };
  Choice ChooseSource(JNIEnv* jni);
  jint Fail(const std::string& why, bool strict) const;

  std::mutex mutex_;  // serialises start and stop
  std::condition_variable ending_changed_;
  bool ending_ = false;   // the JVM
  bool delayed_ = false;  // a recording is to start later
  JavaVM* vm_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  Options options_;
  std::string options_text_;
  std::unique_ptr<Jvm> jvm_;
  Recording* recording_ = nullptr;  // the last one; never deleted
  uint32_t recordings_ = 0;
};

}  // namespace heaprec::agent
