#!/bin/sh
# Mounts the namespaces of a process on files and enters them. Arguments: the process, the directory of the files, the host
# name, and the names of the namespaces. Only root of the pod's user namespace can say who of its groups may send echo
# requests, without the right to forge packets.
from=/proc/$1/ns
directory=$2
hostname=$3
shift 3
has_hostname=no
for name; do
  mount --bind "$from/$name" "$directory/$name" || exit
  if [ "$name" = uts ]; then
    has_hostname=yes
  fi
  # The names become the arguments of nsenter.
  set -- "$@" "--$name=$directory/$name"
  shift
done
if [ "$has_hostname" = no ]; then
  exit 0
fi
# shellcheck disable=SC2016
exec nsenter "$@" /bin/sh -c 'hostname "$1" && echo "0 65535" >/proc/sys/net/ipv4/ping_group_range' sh "$hostname"
