# orio_tune_sources(TARGET [NO_TUNE] [TRIALS n] [TIME duration] [STORE folder] [DB database]
#                   [SET name=value...])
#
# Has the annotated C sources of a target tuned before they are compiled: the compiler is called through
# `orio cc`, which keeps the tuned texts in STORE (default: orio-store in the build folder), so that each source
# is tuned once and again after it changed.  Trials are kept in the results database DB (default: the user's).
# Sources without annotations are compiled as ever.  Without `orio`, or with -DORIO_TUNE=OFF, the target is built
# as it was written.
#
# Needs a generator that uses compiler launchers: Makefiles or Ninja.

option(ORIO_TUNE "Tune the annotated sources of targets that ask for it" ON)
set(ORIO_COMMAND "" CACHE STRING "The command `orio`, if it is not on the PATH; words separated by semicolons")

function(orio_tune_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 ORIO_ARG "NO_TUNE" "TRIALS;TIME;STORE;DB" "SET")
  if(ORIO_ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "orio_tune_sources(${target}): unknown arguments ${ORIO_ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ORIO_TUNE)
    return()
  endif()
  set(command "${ORIO_COMMAND}")
  if(NOT command)
    find_program(ORIO_PROGRAM orio)
    if(NOT ORIO_PROGRAM)
      message(WARNING "orio is not on the PATH, so ${target} is built without tuning (pip install orio-py)")
      return()
    endif()
    set(command "${ORIO_PROGRAM}")
  endif()
  if(NOT ORIO_ARG_STORE)
    set(ORIO_ARG_STORE "${CMAKE_BINARY_DIR}/orio-store")
  endif()
  list(APPEND command cc --store "${ORIO_ARG_STORE}")
  if(ORIO_ARG_NO_TUNE)
    list(APPEND command --no-tune)
  endif()
  if(ORIO_ARG_TRIALS)
    list(APPEND command --trials "${ORIO_ARG_TRIALS}")
  endif()
  if(ORIO_ARG_TIME)
    list(APPEND command --time "${ORIO_ARG_TIME}")
  endif()
  if(ORIO_ARG_DB)
    list(APPEND command --db "${ORIO_ARG_DB}")
  endif()
  foreach(setting IN LISTS ORIO_ARG_SET)
    list(APPEND command --set "${setting}")
  endforeach()
  set_property(TARGET "${target}" PROPERTY C_COMPILER_LAUNCHER "${command};--")
endfunction()
