/**
 * The supervisor of a container: a shell script that mounts its root, has the OCI runtime run it, waits for it and keeps its exit code. It
 * outlives agent and keeper. It works in the directory of the container, in a mount namespace of its own, so that the root goes
 * with it. Nothing that a pod or an image says is among its arguments: that is in `config.json`.
 *
 *   sh SCRIPT ROOT KIND OWNER STREAMS [DIRECTORY…]
 *
 * KIND: `image` mounts the links `lower-0`… below the layer, `host` the files of the node. OWNER: the user that root in the container
 * is. DIRECTORY…: made in the layer of `host` for mounts. The environment names the runtime: OCI, OCI_STATE, OCI_ID and OCI_KEEP, with
 * which the cgroup of a container stays until the keeper has read it.
 */
export const CONTAINER_SCRIPT = String.raw`
root=$1; kind=$2; owner=$3; streams=$4; shift 4
trap '' HUP INT QUIT TERM PIPE USR1 USR2
now() { at=$(date +%s%3N); case $at in *[!0-9]*) at=$(date +%s)000;; esac; echo "$at"; }
state() { printf '%s' "$1" >state.next && mv -f state.next state; printf '%s\n' "$1" >&4; }
IFS=,
mkfifo -m 600 alive $streams || exit 1
unset IFS
exec 4<>alive 5<>stdout 6<>stderr
input=/dev/null
if [ -p stdin ]; then input=stdin; fi
if [ -p idle ]; then exec 8<>idle; [ -p stdin ] || input=idle; fi
if [ "$input" != /dev/null ]; then exec 7<>"$input"; fi
echo ready >&3
read -r go <&3 || exit 1
exec 3>&-

in_memory() { mount -t tmpfs -o mode=0755 tmpfs layer && mkdir layer/upper layer/work; }
overlay() { mount -t overlay -o "lowerdir=$1,upperdir=layer/upper,workdir=layer/work$2" overlay "$root"; }
prepare() {
  case $kind in
    image)
      lower=lower-0
      if [ -e lower-1 ]; then lower=lower-0:lower-1; fi
      mkdir -p layer/upper layer/work && chown "$owner:$owner" layer/upper || return
      overlay "$lower" ,metacopy=on || { in_memory && chown "$owner:$owner" layer/upper && overlay "$lower" ,metacopy=on; };;
    host)
      in_memory || return
      for directory do mkdir -p "layer/upper$directory" || return; done
      chown -R "$owner:$owner" layer/upper && overlay / '';;
  esac
}
started=$(now)
if prepare "$@" 2>prepare.log; then
  if [ -p control ]; then
    script -q -e -f -E never -c 'tty >terminal; exec "$OCI" --root "$OCI_STATE" --log runtime.log --log-format json run $OCI_KEEP --bundle . --pid-file pid "$OCI_ID"' /dev/null <"$input" >stdout 2>stderr 4>&- 5>&- 6>&- 7>&- 8>&- &
  else
    "$OCI" --root "$OCI_STATE" --log runtime.log --log-format json run $OCI_KEEP --bundle . --pid-file pid "$OCI_ID" <"$input" >stdout 2>stderr 4>&- 5>&- 6>&- 7>&- 8>&- &
  fi
  runtime=$!
  case $streams in *once*) exec 7>&-;; esac
  wait "$runtime"
  code=$?
fi
if [ ! -s pid ]; then state "{\"state\":\"failed\",\"at\":$(now)}"; exit 0; fi
signal=0
if [ "$code" -gt 128 ]; then signal=$((code - 128)); fi
state "{\"state\":\"exited\",\"at\":$started,\"finishedAt\":$(now),\"exitCode\":$code,\"signal\":$signal,\"pid\":$(cat pid)}"
`;
