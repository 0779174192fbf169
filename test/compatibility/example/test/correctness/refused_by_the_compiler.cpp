int main() { return a_name_that_nobody_declares; }
