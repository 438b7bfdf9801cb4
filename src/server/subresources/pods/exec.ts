import { CONTAINER, podStream } from './pod-stream.ts';

/** Runs a command in a container. */
export const exec = podStream('exec', { optionsKind: 'PodExecOptions', parameters: CONTAINER });
