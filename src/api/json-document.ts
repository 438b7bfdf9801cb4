/** A document that never changes while the server runs. */
export interface JsonDocument {
  readonly path: string;
  readonly type: string;
  readonly content: object;
}
