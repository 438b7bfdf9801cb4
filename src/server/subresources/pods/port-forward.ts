import { podStream } from './pod-stream.ts';

/** Connects to ports of a pod. */
export const portForward = podStream('portforward', { optionsKind: 'PodPortForwardOptions', parameters: {} });
