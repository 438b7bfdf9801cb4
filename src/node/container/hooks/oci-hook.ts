/** A hook as the OCI runtime specification describes it. */
export interface OciHook {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: readonly string[];
  /** In seconds. */
  readonly timeout: number;
}
