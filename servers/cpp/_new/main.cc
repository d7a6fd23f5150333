// The contract's service on LIBRARY. Address and number of CPUs come from the environment.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "settings.h"

namespace {

// Serves at the address until SIGTERM, with a thread per CPU.
void Serve(const std::string& /*host*/, unsigned /*port*/, unsigned /*cpus*/) {
  throw std::runtime_error("not written yet: main.cc must answer the four calls of contract/README.md here");
}

}  // namespace

int main() {
  try {
    Serve(settings::Host(), settings::Port(), settings::Cpus());
  } catch (const std::exception& error) {
    std::cerr << "cpp-LIBRARY: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
