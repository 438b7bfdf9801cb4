#!/bin/sh
# Reads arguments of one line each, runs the program with each, and answers with its exit code, the length of its error
# output, and that output. Arguments: the program, and its arguments before those.
while IFS= read -r argument; do
  code=0
  errors=$("$@" "$argument" 2>&1 >/dev/null) || code=$?
  printf '%s %s\n%s' "$code" "${#errors}" "$errors"
done
