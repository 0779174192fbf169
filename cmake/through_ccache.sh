#!/bin/sh
# through_ccache.sh CCACHE COMPILER ARGS...: compiles through ccache. Two build folders share the
# cache: debug information names the build folder otherwise.
#
# A precompiled header goes before it is made anew. The preprocessor, which ccache asks what a
# compilation reads, would take the old one for the headers that it was made of, and ccache give
# back what was made of other headers. It remembers the text of those headers, comments too: one made
# of headers with other comments would not be taken for them, and they would be read twice.
for word; do
  case "$before $word" in
    "-o "*.gch)
      rm -f "$word"
      export CCACHE_COMMENTS=1 CCACHE_NAMESPACE=headers
      ;;
  esac
  before=$word
done
CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros exec "$@"
