// The agent of this process: from Agent_OnLoad or Agent_OnAttach to the JVM's death.
//
// Context:  setup, except for the event callbacks, which call recorder/sources.
// Failure:  the JVM continues after any failure (it exits only with `strict` at load). One line goes to stderr, and to
//           the reply if one was requested (recorder/agent/options/command.h).
#pragma once

#include <jvmti.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recorder/agent/options/command.h"
#include "recorder/agent/options/options.h"
#include "recorder/agent/recording.h"
#include "recorder/sources/callback/callback_source.h"
#include "recorder/sources/jvm/jvm.h"

namespace heaprec::agent {

enum class SamplingClient { kAgent, kJava };

class Agent {
 public:
  static Agent& Instance();  // JVMTI's callbacks have no user pointer

  // Returns a JNI status: JNI_OK, or with `strict` an error, which ends the JVM.
  jint OnLoad(JavaVM* vm, const char* options);
  // Executes a command (recorder/agent/options/command.h). Returns a JNI status; none ends the JVM.
  jint OnAttach(JavaVM* vm, const char* options);

  // The same for the application itself (heaprec.Heaprec). `*reply` gets what would be written to the reply's file.
  bool Ask(JavaVM* vm, const char* command, std::string* reply);
  // Copies the running recording to `pattern` (as Options::file). Returns the name of the copy.
  Result<std::string> Dump(const std::string& pattern);
  // Samples for another agent (include/heaprec_sampling.h) or for the application (api/trace_api.cc), one of them at a
  // time. Returns a result of that header. `*why` (may be null): the reason, unless the result is HEAPREC_OK.
  int Sample(JavaVM* vm, const heaprec_sampling& how, SamplingClient sampler, std::string* why);
  // Visits the traces of this client's latest sampling.
  int64_t VisitTraces(JNIEnv* jni, int which, heaprec_visit visit, void* user, SamplingClient sampler);

  // Returns what probes (api/probe_api.cc) need of the JVM, layouts and names, and installs their hooks.
  Result<const sources::Jvm*> PrepareProbes(JavaVM* vm, JNIEnv* jni);

  void OnVmInit(JNIEnv* jni);
  void OnVmDeath();
  // Memory ran out during a command: stops recording, and the JVM samples as it does without the agent.
  void Abandon();
  const sources::Jvm* jvm() const { return jvm_.get(); }

 private:
  Result<Options> TakeOptions(const std::string& text);
  jint StartByCommand(JavaVM* vm, const Command& command);
  jint StopByCommand();
  jint FlushByCommand();
  std::string State() const;
  // By the options `only` and `skip`, and the main class or jar of the launcher's command line.
  bool RecordsThisJvm() const;
  Status MakeEnvironment(JavaVM* vm);
  // Creates the environment, if there is none, for an agent that was loaded or called after the JVM's start.
  Status MakeLateEnvironment(JavaVM* vm);
  // If the JVM's code allocates inline, without calling a hook, tries to disable that and stores the result.
  void StopInlineAllocation(bool is_late);
  void NoteInlineAllocation(ChosenSource* choice) const;
  // Requests the capability of exception events, if the options ask for it. It changes how methods that throw are
  // compiled.
  void AskForExceptions();
  // Starts now, or after the delay.
  Status Begin(JNIEnv* jni);
  Status StartRecording(JNIEnv* jni);
  void StartAfterDelay();
  // The part that is common to all starts.
  Status Prepare(JNIEnv* jni);
  Status StartSampling(JNIEnv* jni, const heaprec_sampling& how);
  void StopSampling(JNIEnv* jni);
  ChosenSource ChooseSource(JNIEnv* jni);
  ChosenSource ChoosePortable();
  ChosenSource ChooseJvmti(JNIEnv* jni, const std::string& why);
  jint Fail(const std::string& why, bool strict);
  // Refuses a command; prints the reason on the JVM's stderr only if no reply is requested.
  jint Refuse(const std::string& why, ReplyStatus status = ReplyStatus::kError);
  void SayStarted(const ChosenSource& choice);
  // Writes the reply, once.
  void Reply(ReplyStatus status, const std::string& sentence);

  std::timed_mutex mutex_;  // serialises start and stop; may be held for long by a file system that does not respond
  std::condition_variable_any ending_changed_;
  std::atomic<bool> ending_{false};  // the JVM
  bool has_exceptions_ = false;      // the capability
  bool starts_ = false;              // the JVM: VMInit is under way
  bool delayed_ = false;             // a recording is to start later
  uint32_t delays_ = 0;              // number of delays; a waiting thread compares it with its own
  JavaVM* vm_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  Options options_;
  std::string options_text_;
  jint Obey(JavaVM* vm, const char* text);
  std::string* listener_ = nullptr;  // receives the reply of Ask
  std::string reply_file_;           // where the attaching tool expects the reply; empty: none is requested
  std::unique_ptr<sources::Jvm> jvm_;
  std::unique_ptr<Recording> recording_;  // the latest recording
  EndedRecordings retired_;               // earlier recordings
  // Why generated code still allocates inline; empty: the agent disabled that. nullopt: it never allocated inline.
  std::optional<std::string> inline_allocation_;
  uint32_t recordings_ = 0;  // number of recordings and samplings
  // sampling for another agent, or for the application
  bool samples_ = false;
  SamplingClient sampler_ = SamplingClient::kAgent;                  // client of the latest sampling
  std::vector<std::unique_ptr<sources::CallbackSource>> samplings_;  // only the latest may be active
};

// For an agent that attached late: heaprec.Heaprec, if it is loaded, may have stopped looking for an agent.
void LinkLabels(jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace heaprec::agent
