import type { AdmissionRequest } from '../../../objects/admission/request.ts';

const MAX_VALUE_BYTES = 10 * 1024;

/** The audit annotations of one policy. Different values for one key, from several bindings, are joined. */
export class AuditAnnotations {
  readonly #policy: string;
  readonly #request: AdmissionRequest;
  #values: Map<string, Set<string>> | undefined;

  constructor(policy: string, request: AdmissionRequest) {
    this.#policy = policy;
    this.#request = request;
  }

  add(key: string, value: string): void {
    this.#values ??= new Map();
    const others = this.#values.get(key) ?? new Set();
    this.#values.set(key, others.add(cut(value)));
  }

  publish(): void {
    for (const [key, values] of this.#values ?? []) {
      this.#request.annotate(`${this.#policy}/${key}`, [...values].join(', '));
    }
  }
}

function cut(value: string): string {
  return Buffer.byteLength(value) <= MAX_VALUE_BYTES ? value : Buffer.from(value).toString('utf8', 0, MAX_VALUE_BYTES);
}
