// Executes the commands that an attaching tool sends to the agent.
#include <fmt/format.h>

#include "recorder/agent/agent.h"

namespace heaprec::agent {
namespace {

// Between the loading of agents and its live phase a JVM provides no environment.
bool IsStarting(JavaVM* vm) {
  jvmtiEnv* jvmti = nullptr;
  const jint got = vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11);
  if (got == JNI_OK) jvmti->DisposeEnvironment();
  return got == JNI_EDETACHED;
}

}  // namespace

jint Agent::Obey(JavaVM* vm, const char* text) {
  auto command = ParseCommand(text != nullptr ? text : "");
  if (!command.ok()) return Refuse(command.error().message);
  reply_file_ = command->reply_file;
  switch (command->kind) {
    case CommandKind::kStart:
      return StartByCommand(vm, *command);
    case CommandKind::kStop:
      return StopByCommand();
    case CommandKind::kFlush:
      return FlushByCommand();
    case CommandKind::kStatus:
      Reply(ReplyStatus::kOk, State());
      return JNI_OK;
  }
  return JNI_ERR;
}

jint Agent::StartByCommand(JavaVM* vm, const Command& command) {
  if (delayed_) return Refuse("a recording is waiting for its delay, with options " + options_text_);
  if (recording_ != nullptr && !recording_->ended()) {
    return Refuse(fmt::format("already recording into {}", recording_->path()));
  }
  auto options = TakeOptions(command.options);
  if (!options.ok()) return Refuse(options.error().message);
  JNIEnv* const jni = sources::EnvOf(vm);
  if (jni == nullptr) return Refuse("the JVM provides no JNI environment");
  if (jvmti_ == nullptr) {
    if (IsStarting(vm)) return Refuse("the JVM is still starting", ReplyStatus::kStarting);
    auto environment = MakeLateEnvironment(vm);
    if (!environment.ok()) return Refuse(environment.error().message);
    StopInlineAllocation(/*is_late=*/true);
  }
  if (!RecordsThisJvm()) return Reply(ReplyStatus::kOk, State()), JNI_OK;
  AskForExceptions();
  auto begun = Begin(jni);
  // The JVM continues in any case; the attaching tool gets the status.
  if (!begun.ok()) return Refuse(begun.error().message);
  LinkLabels(jvmti_, jni);
  Reply(ReplyStatus::kOk, State());
  return JNI_OK;
}

jint Agent::StopByCommand() {
  if (delayed_) {
    delayed_ = false;
    ending_changed_.notify_all();
    Reply(ReplyStatus::kOk, "the delayed recording is cancelled");
    return JNI_OK;
  }
  if (recording_ == nullptr || recording_->ended()) {
    Reply(ReplyStatus::kError, "no recording is running");
    return JNI_ERR;
  }
  recording_->Stop("stop", /*jvm_ends=*/false);
  const std::string unwritten = recording_->UnwrittenText();
  Reply(unwritten.empty() ? ReplyStatus::kOk : ReplyStatus::kUnwritten,
        unwritten.empty() ? recording_->path() : unwritten);
  return unwritten.empty() ? JNI_OK : JNI_ERR;
}

jint Agent::FlushByCommand() {
  if (recording_ == nullptr || recording_->ended()) return Refuse("no recording is running");
  const auto flushed = recording_->Flush();
  if (!flushed.ok()) return Refuse(flushed.error().message);
  Reply(ReplyStatus::kOk, State());
  return JNI_OK;
}

// "recording FILE", "waiting" or "idle".
std::string Agent::State() const {
  if (delayed_) return "waiting";
  if (recording_ == nullptr || recording_->ended()) return "idle";
  return "recording " + recording_->path();
}

}  // namespace heaprec::agent
