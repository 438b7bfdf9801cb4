#!/bin/sh
# Makes the interface of a pod in one program, because each one that the node starts takes a while: the pair of
# interfaces, and then its guards beside what is inside. Arguments: ip, nsenter, nft, the namespace, lines for `ip -batch`
# outside, commands for nft as JSON or nothing, lines for `ip -batch` inside, and the program configure-inside.sh.
ip=$1
nsenter=$2
nft=$3
namespace=$4
outside=$5
guards=$6
inside=$7
configure=$8
printf '%s\n' "$outside" | "$ip" -batch - || exit
guard=
if [ -n "$guards" ]; then
  "$nft" -j "$guards" &
  guard=$!
fi
printf '%s\n' "$inside" | "$nsenter" "--net=$namespace" /bin/sh -c "$configure" sh "$ip" || exit
if [ -n "$guard" ]; then
  wait "$guard"
fi
