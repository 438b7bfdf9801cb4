import type { OciHook } from '../../container/oci-hook.ts';

/** A container whose supervisor was killed meanwhile neither starts nor waits for ever. */
const TIMEOUT_SECONDS = 300;

/**
 * Makes the runtime wait, when everything of the container is made, until the named pipe says `go`. The hook reads its input, the state of
 * the container, to the end: runc would pass the signal of a broken pipe on to the container.
 */
export function networkHook(gate: string): OciHook {
  return {
    path: '/bin/sh',
    args: ['sh', '-c', 'read -r state; read -r go <"$1" && [ "$go" = go ]', 'sh', gate],
    env: [],
    timeout: TIMEOUT_SECONDS,
  };
}
