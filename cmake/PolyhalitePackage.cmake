# What Polyhalite gives to other projects, from find_package and from add_subdirectory alike:
#   Polyhalite::Polyhalite  the compiler library and its headers
#   Polyhalite::Halide      the same behind Halide.h
#   Polyhalite::Generator   main() for programs that consist of generators
#   Polyhalite::Runtime     what compiled pipelines need at run time
#   Polyhalite::HalideRuntime  the same with Halide's names beside its own
#   Polyhalite::RunGenMain  main() of programs that run a compiled pipeline by its registration
# The package Halide stands beside it, for projects that say find_package(Halide).
# Headers install to include/, the compatibility headers to include/polyhalite/halide.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(halide_headers ${PROJECT_SOURCE_DIR}/lang/include/halide)
set(installed_halide_headers ${CMAKE_INSTALL_INCLUDEDIR}/polyhalite/halide)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Polyhalite)

add_library(Polyhalite SHARED)
target_link_libraries(Polyhalite PRIVATE ph_lang ph_schedule ph_polyhedral ph_autosched
                                         ph_codegen)
set_target_properties(Polyhalite PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
target_compile_features(Polyhalite INTERFACE cxx_std_17)
target_include_directories(Polyhalite INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lang/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lang/abi>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/polyhalite>)

add_library(PolyhaliteHalide INTERFACE)
set_target_properties(PolyhaliteHalide PROPERTIES EXPORT_NAME Halide)
target_link_libraries(PolyhaliteHalide INTERFACE Polyhalite)
target_include_directories(PolyhaliteHalide INTERFACE
  $<BUILD_INTERFACE:${halide_headers}> $<INSTALL_INTERFACE:${installed_halide_headers}>)

add_library(PolyhaliteGenerator STATIC ${PROJECT_SOURCE_DIR}/lang/main/generator_main.cc)
set_target_properties(PolyhaliteGenerator PROPERTIES EXPORT_NAME Generator)
target_link_libraries(PolyhaliteGenerator PUBLIC Polyhalite)

set_target_properties(polyhalite_runtime polyhalite_halide_runtime PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lang/include;${PROJECT_SOURCE_DIR}/lang/abi>;\
$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR};${CMAKE_INSTALL_INCLUDEDIR}/polyhalite>")
set_target_properties(polyhalite_runtime PROPERTIES EXPORT_NAME Runtime)
set_target_properties(polyhalite_halide_runtime PROPERTIES EXPORT_NAME HalideRuntime)

# The runner needs libraries for command lines and pictures; without them there is none.
set(rungen_targets "")
find_path(POLYHALITE_CLI11_INCLUDE CLI/CLI.hpp)
find_path(POLYHALITE_STB_INCLUDE stb/stb_image.h)
if(POLYHALITE_CLI11_INCLUDE AND POLYHALITE_STB_INCLUDE)
  file(GLOB rungen_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/rungen/*.cc)
  add_library(PolyhaliteRunGenMain STATIC ${rungen_sources})
  set_target_properties(PolyhaliteRunGenMain PROPERTIES EXPORT_NAME RunGenMain)
  target_include_directories(PolyhaliteRunGenMain PRIVATE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/lang/abi)
  target_include_directories(PolyhaliteRunGenMain SYSTEM PRIVATE ${POLYHALITE_CLI11_INCLUDE}
    ${POLYHALITE_STB_INCLUDE})
  add_library(Polyhalite::RunGenMain ALIAS PolyhaliteRunGenMain)
  set(rungen_targets PolyhaliteRunGenMain)
endif()

add_library(Polyhalite::Polyhalite ALIAS Polyhalite)
add_library(Polyhalite::Halide ALIAS PolyhaliteHalide)
add_library(Polyhalite::Generator ALIAS PolyhaliteGenerator)
add_library(Polyhalite::Runtime ALIAS polyhalite_runtime)
add_library(Polyhalite::HalideRuntime ALIAS polyhalite_halide_runtime)
include(PolyhaliteGeneratorHelpers)

install(TARGETS Polyhalite PolyhaliteHalide PolyhaliteGenerator polyhalite_runtime
                polyhalite_halide_runtime ${rungen_targets}
        EXPORT PolyhaliteTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lang/include/polyhalite
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lang/abi/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/polyhalite FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${halide_headers}/ DESTINATION ${installed_halide_headers}
        FILES_MATCHING PATTERN "*.h")
# Halide's programs are compiled with the folder of Halide's headers alone, from which ours are
# reached by headers of one line.
set(forwards ${PROJECT_BINARY_DIR}/halide_forwards)
file(GLOB forwarded CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/lang/include
  ${PROJECT_SOURCE_DIR}/lang/include/polyhalite/*.h)
foreach(header IN LISTS forwarded)
  file(CONFIGURE OUTPUT ${forwards}/${header} CONTENT "#include \"../../../${header}\"\n")
endforeach()
file(GLOB forwarded CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/lang/abi
  ${PROJECT_SOURCE_DIR}/lang/abi/*.h)
foreach(header IN LISTS forwarded)
  file(CONFIGURE OUTPUT ${forwards}/${header} CONTENT "#include \"../${header}\"\n")
endforeach()
install(DIRECTORY ${forwards}/ DESTINATION ${installed_halide_headers} FILES_MATCHING PATTERN "*.h")
install(EXPORT PolyhaliteTargets NAMESPACE Polyhalite:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PolyhaliteConfig.cmake.in
  ${PROJECT_BINARY_DIR}/PolyhaliteConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PolyhaliteConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PolyhaliteConfig.cmake
              ${PROJECT_BINARY_DIR}/PolyhaliteConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PolyhaliteGeneratorHelpers.cmake
        DESTINATION ${package_folder})

# Halide's packages over this one.
foreach(package Halide HalideHelpers)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/${package})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/${package}Config.cmake.in
    ${PROJECT_BINARY_DIR}/${package}Config.cmake INSTALL_DESTINATION ${folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/${package}ConfigVersion.cmake
    VERSION 21.0.0 COMPATIBILITY AnyNewerVersion)
  install(FILES ${PROJECT_BINARY_DIR}/${package}Config.cmake
                ${PROJECT_BINARY_DIR}/${package}ConfigVersion.cmake DESTINATION ${folder})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/cmake/HalideHelpers.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Halide)
