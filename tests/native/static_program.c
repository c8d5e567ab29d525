// Nothing can be preloaded into it.
int main(void) { return 0; }
