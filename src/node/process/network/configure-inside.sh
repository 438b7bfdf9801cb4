#!/bin/sh
# Configures interfaces in the network namespace of a pod with the lines for `ip -batch` on its input. Argument: ip.
# Pods of IPv4 ranges have no IPv6, except for the loopback interface, which reaches nobody else.
for interface in default eth0; do
  file=/proc/sys/net/ipv6/conf/$interface/disable_ipv6
  if [ -w "$file" ]; then
    echo 1 >"$file"
  fi
done
exec "$1" -batch -
