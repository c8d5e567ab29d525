// The agent of this process: from Agent_OnLoad or Agent_OnAttach to the JVM's death.
//
// Context:  setup, but for what the event callbacks pass on to recorder/sources.
// Failure:  whatever fails, the JVM runs on (exits only with `strict` at load): one line on stderr, and in the answer
//           if one was asked for (recorder/agent/options/command.h).
#pragma once

#include <jvmti.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recorder/agent/ended_recordings.h"
#include "recorder/agent/jvm/jvm.h"
#include "recorder/agent/options/command.h"
#include "recorder/agent/options/options.h"
#include "recorder/agent/recording.h"
#include "recorder/sources/callback/callback_source.h"

namespace heaprec::agent {

enum class SamplingClient { kAgent, kJava };

class Agent {
 public:
  static Agent& Instance();  // JVMTI's callbacks carry no pointer of ours

  // A JNI status: JNI_OK unless `strict` asks for the JVM's end.
  jint OnLoad(JavaVM* vm, const char* options);
  // A command (recorder/agent/options/command.h). A JNI status, which the JVM survives whatever it is.
  jint OnAttach(JavaVM* vm, const char* options);

  // The same for the application itself (heaprec.Heaprec): `*answer` is what would stand in the answer's file.
  bool Ask(JavaVM* vm, const char* command, std::string* answer);
  // A copy of the recording that runs, under `pattern` as Options::file; returns its name.
  format::Result<std::string> Dump(const std::string& pattern);
  // For another agent (include/heaprec_sampling.h) or the application (trace_api.h), one of them at a time; answers
  // as it says there. `*why` (may be null): in words, if it is not HEAPREC_OK.
  int Sample(JavaVM* vm, const heaprec_sampling& how, SamplingClient sampler, std::string* why);
  // Of what that one sampled last.
  int64_t VisitTraces(JNIEnv* jni, int which, heaprec_visit visit, void* user, SamplingClient sampler);

  // For probes (probe_api.h): what they need of the JVM, with their hooks in place.
  format::Result<const Jvm*> PrepareProbes(JavaVM* vm, JNIEnv* jni);

  void OnVmInit(JNIEnv* jni);
  void OnVmDeath();
  const Jvm* jvm() const { return jvm_.get(); }

 private:
  format::Result<Options> TakeOptions(const std::string& text);
  jint StartByCommand(JavaVM* vm, const Command& command);
  jint StopByCommand();
  jint FlushByCommand();
  std::string State() const;
  format::Result<std::monostate> MakeEnvironment(JavaVM* vm);
  // If the JVM's code would allocate past every hook: notes whether that could be turned off.
  void StopInlineAllocation(bool is_late);
  std::string NoteInlineAllocation() const;
  // For the events, if the options want them. Methods that throw are compiled otherwise where they can be had.
  void AskForExceptions();
  // Starts now, or after the delay.
  format::Result<std::monostate> Begin(JNIEnv* jni);
  format::Result<std::monostate> StartRecording(JNIEnv* jni);
  void StartAfterDelay();
  // What every start needs of the JVM.
  format::Result<std::monostate> Prepare(JNIEnv* jni);
  format::Result<std::monostate> StartSampling(JNIEnv* jni, const heaprec_sampling& how);
  void StopSampling(JNIEnv* jni);
  ChosenSource ChooseSource(JNIEnv* jni);
  ChosenSource ChoosePortable();
  ChosenSource ChooseJvmti(JNIEnv* jni, const std::string& why);
  jint Fail(const std::string& why, bool strict);
  // A command, that is: said on the JVM's stderr only if nobody waits for the answer.
  jint Refuse(const std::string& why);
  // Once: who asked has it.
  void Answer(Reply reply, const std::string& sentence);

  std::mutex mutex_;  // serialises start and stop
  std::condition_variable ending_changed_;
  bool ending_ = false;          // the JVM
  bool has_exceptions_ = false;  // the capability
  bool delayed_ = false;         // a recording is to start later
  uint32_t delays_ = 0;          // that began: each thread that waits knows its own
  JavaVM* vm_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  Options options_;
  std::string options_text_;
  jint Obey(JavaVM* vm, const char* text);
  std::string* listener_ = nullptr;  // of whoever asks through Ask
  std::string answer_;               // the file in which the asker waits for an answer; empty: nobody does
  std::unique_ptr<Jvm> jvm_;
  std::unique_ptr<Recording> recording_;  // the last one
  EndedRecordings retired_;               // those before it
  // Why generated code still allocates inline; empty: it does not, because of us. nullopt: it never did.
  std::optional<std::string> inline_allocation_;
  uint32_t recordings_ = 0;                                          // and samplings
  bool samples_ = false;                                             // for another agent, or the application
  SamplingClient sampler_ = SamplingClient::kAgent;                  // the last one
  std::vector<std::unique_ptr<sources::CallbackSource>> samplings_;  // of which the last may be active
};

}  // namespace heaprec::agent
