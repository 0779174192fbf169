// Such a program is listed and not built.
int main() { return Halide::Internal::nothing_of_this_name(); }
