/** Settings of an image for the processes that run in it. */
export interface ImageConfig {
  /** `user`, `user:group`, as names or numbers; undefined: root. */
  readonly user: string | undefined;
  /** `NAME=value` each. */
  readonly env: readonly string[];
  readonly entrypoint: readonly string[];
  readonly args: readonly string[];
  /** Absolute; undefined: `/`. */
  readonly workingDirectory: string | undefined;
  /** Name or number, for example `SIGQUIT` or `3`; undefined: SIGTERM. */
  readonly stopSignal: string | undefined;
  /** Directories that the image declares as volumes. */
  readonly volumes: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}
