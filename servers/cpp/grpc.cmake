# Builds main.cc of the current folder with gRPC, as `program`: server or client.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(RPCBENCH_CONTRACT "${CMAKE_CURRENT_LIST_DIR}/../../contract" CACHE PATH "Folder of echo.proto")

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc++>=1.51)
pkg_check_modules(PROTOBUF REQUIRED IMPORTED_TARGET protobuf)
find_program(PROTOC protoc)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
if(NOT PROTOC OR NOT GRPC_CPP_PLUGIN)
  message(FATAL_ERROR "protoc or grpc_cpp_plugin not found: apt-get install protobuf-compiler protobuf-compiler-grpc")
endif()

set(generated echo.pb.cc echo.pb.h echo.grpc.pb.cc echo.grpc.pb.h)
list(TRANSFORM generated PREPEND "${CMAKE_CURRENT_BINARY_DIR}/")
add_custom_command(
  OUTPUT ${generated}
  COMMAND "${PROTOC}" -I "${RPCBENCH_CONTRACT}" "--plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}"
          "--cpp_out=${CMAKE_CURRENT_BINARY_DIR}" "--grpc_out=${CMAKE_CURRENT_BINARY_DIR}"
          "${RPCBENCH_CONTRACT}/echo.proto"
  DEPENDS "${RPCBENCH_CONTRACT}/echo.proto"
  VERBATIM)

add_executable(${program} main.cc ${generated})
target_include_directories(${program} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/..")
target_include_directories(${program} SYSTEM PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
target_compile_options(${program} PRIVATE -Wall -Wextra)
target_link_libraries(${program} PRIVATE PkgConfig::GRPC PkgConfig::PROTOBUF Threads::Threads)

# Distribution packages can't be locked; the versions that this build used are recorded instead.
set(lock "grpc++ ${GRPC_VERSION}\nprotobuf ${PROTOBUF_VERSION}\n")
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
  execute_process(
    COMMAND "${DPKG_QUERY}" -W -f "\${Package} \${Version}\n" libgrpc++-dev libgrpc-dev libprotobuf-dev libabsl-dev libc-ares-dev
    OUTPUT_VARIABLE packages ERROR_QUIET)
  string(APPEND lock "${packages}")
endif()
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/packages.lock" "${lock}")
