// A library whose thread-local memory is too large for the static block: the loader allocates it at a thread's first
// use.
static _Thread_local char text[20000];
__attribute__((visibility("default"))) char* text_of_thread(void) { return text; }
