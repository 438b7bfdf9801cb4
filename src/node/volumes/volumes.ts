/** The volumes of the pods of a node, as the agent uses them. */
import type { SeenPod } from '../pod/container-run.ts';

export interface Volumes {
  /** Makes the volumes of a pod usable. Idempotent; rejects with a VolumeError. */
  prepare(pod: SeenPod): Promise<PreparedVolumes>;
  /** Unmounts them and removes what belongs to the pod alone. Idempotent, and works without the pod's object. */
  release(podUid: string): Promise<void>;
  /** Pods that have something on this node, so that a new agent finds what was left behind. */
  leftovers(): Promise<readonly string[]>;
  /** Refreshes what changes while a pod runs: tokens, the downward API, and configuration with `--live-config-volumes`. */
  refresh(pod: SeenPod): Promise<void>;
  /** What its volumes take on disk, for eviction and statistics: bytes by volume name. */
  usage(podUid: string): Promise<ReadonlyMap<string, number>>;
}

/** By name of the volume. */
export type PreparedVolumes = ReadonlyMap<string, PreparedVolume>;

export type PreparedVolume =
  | {
      readonly type: 'directory';
      /** Absolute, on the node; a file or device for some kinds. */
      readonly path: string;
      readonly readOnly: boolean;
      readonly selinuxRelabel: boolean;
    }
  | { readonly type: 'image'; readonly imageId: string };

/** Why volumes cannot be used (yet). The message is that of the event FailedMount. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}
