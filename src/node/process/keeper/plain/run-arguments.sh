#!/bin/sh
# Becomes the program whose arguments the environment carries: QD_ARGUMENTS is their number, QD_ARGUMENT_0 the first.
i=0
set --
while [ "$i" -lt "$QD_ARGUMENTS" ]; do
  eval "set -- \"\$@\" \"\$QD_ARGUMENT_$i\""
  i=$((i + 1))
done
exec "$@"
