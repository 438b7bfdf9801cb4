#!/bin/sh
# Supervises a container: mounts its root, has the OCI runtime run it, waits for it and keeps its exit code. It outlives
# agent and keeper. It works in the directory of the container, where its named pipes are, and in a mount namespace of its
# own, so that the root goes with it. Nothing that a pod or an image says is among its arguments: that is in config.json.
#
#   sh SCRIPT ROOT KIND OWNER LAYER STREAMS
#
# KIND: `image` mounts the links lower-0… below LAYER/upper, `host` the files of the node. OWNER: the user that root in the
# container is. The environment names the runtime: OCI, OCI_STATE, OCI_ID and OCI_KEEP, with which the cgroup of a container
# stays until the keeper has read it; and DEVICES, which is copied to a file system in memory at DEV, the /dev of the
# container. Where PRIVATE is set, the node sees what is mounted on its shared mounts, for a container with volumes whose
# mounts are for the node: the root is then mounted below PRIVATE, a mount in memory, and the container, which is
# privileged, has the /dev of the node. The keeper says `go` once the network of the pod is there: the runtime makes the
# container meanwhile, and reads from the pipe `gate` before it starts it. Without a keeper it is told `no`.
#
# supervisor-head.sh comes before this, and sets `input`.
# shellcheck disable=SC2154
root=$1
kind=$2
owner=$3
layer=$4
streams=$5
overlay() {
  mount -t overlay -o "lowerdir=$1,upperdir=$layer/upper,workdir=$layer/work$2" overlay "$root"
}
# On a file system that cannot hold a layer.
in_memory() {
  if [ -n "$PRIVATE" ]; then
    layer=$(dirname "$root")
  else
    mount -t tmpfs -o mode=0755 tmpfs "$layer" || return
  fi
  mkdir "$layer/upper" "$layer/work" && chown "$owner:$owner" "$layer/upper"
}
devices() {
  mount -t tmpfs -o "nosuid,mode=0755,size=64m,uid=$owner,gid=$owner" dev "$DEV" && cp -a "$DEVICES"/* "$DEV/"
}
prepare() {
  if [ -n "$PRIVATE" ]; then
    mount --make-private "$PRIVATE" && mount_root
    return
  fi
  devices &
  mount_root || {
    wait
    return 1
  }
  wait $!
}
mount_root() {
  if [ "$kind" = host ]; then
    overlay / ''
    return
  fi
  lower='lower-0'
  if [ -e lower-1 ]; then
    lower='lower-0:lower-1'
  fi
  overlay "$lower" ,metacopy=on || { in_memory && overlay "$lower" ,metacopy=on; }
}
prepared=yes
prepare 2>prepare.log || prepared=no
exec 9<>gate
if [ "$prepared" = yes ]; then
  if [ -p control ]; then
    # shellcheck disable=SC2016
    script -q -e -f -E never -c 'tty >terminal; exec "$OCI" --root "$OCI_STATE" --log runtime.log --log-format json run $OCI_KEEP --bundle . --pid-file pid "$OCI_ID"' /dev/null \
      <"$input" >stdout 2>stderr 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
  else
    # shellcheck disable=SC2086
    "$OCI" --root "$OCI_STATE" --log runtime.log --log-format json run $OCI_KEEP --bundle . --pid-file pid "$OCI_ID" \
      <"$input" >stdout 2>stderr 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
  fi
  runtime=$!
fi
echo ready >&3
read -r go <&3 || go=no
exec 3>&-
echo "$go" >&9
if [ "$prepared" = yes ]; then
  case $streams in
    *once*) exec 7>&- ;;
  esac
  wait "$runtime"
  code=$?
fi
if [ ! -s pid ]; then
  state "{\"state\":\"failed\",\"at\":$(now)}"
  exit 0
fi
signal=0
if [ "$code" -gt 128 ]; then
  signal=$((code - 128))
fi
state "{\"state\":\"exited\",\"finishedAt\":$(now),\"exitCode\":$code,\"signal\":$signal,\"pid\":$(cat pid)}"
