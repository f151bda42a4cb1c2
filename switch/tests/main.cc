#include "check.h"

int main() { return fabriscope::lab::test::run_all(); }
