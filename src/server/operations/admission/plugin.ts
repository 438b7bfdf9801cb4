/**
 * The contract of admission plugins: what a cluster decides about a write beyond whether it is well formed. A plugin fills in
 * what the cluster decides (a service account, a priority) or rejects what it does not allow (more than a quota). What a
 * kind knows by itself (defaults, rules, hooks) is not admission.
 *
 * A transaction runs the plugins that handle its operation, in the order of all.ts, in every attempt:
 *
 * 1. `admit` of each plugin (mutating admission);
 * 2. the kind's hooks and validation, which see what the plugins made of the object;
 * 3. `validate` of each plugin (validating admission), on the object as it would be stored;
 * 4. the commit, under the request's `conditions` and together with its `also`;
 * 5. the callbacks of `onSettled`, whatever the outcome, an error or a conflict included.
 *
 * A plugin may answer at once or with a promise; only a promise is waited for. A plugin that asks a webhook fits as any
 * other: it replaces the object with what the webhook made of it (`replace`), is followed by defaulting, and may ask for a
 * second round of the others (`reinvoke`).
 */
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { AdmissionOperation, AdmissionRequest } from '../../objects/admission/request.ts';
import type { PluginPorts } from '../ports.ts';

export interface AdmissionPlugin {
  /** The plugin's name in `--enable-admission-plugins`. */
  readonly name: string;
  /** Reports whether the plugin handles a request. Called once for each kind, operation and subresource, and cached. */
  handles(kind: Kind, operation: AdmissionOperation, subresource: SubresourceName | undefined): boolean;
  /**
   * May change `request.object` or replace it. Parts that the object shares with `request.old` must be replaced, not
   * changed. Runs twice in an attempt when a plugin requests reinvocation, so it must be idempotent.
   */
  admit?(core: PluginPorts, request: AdmissionRequest): void | Promise<void>;
  /**
   * Removes fields added by `admit` from a copy of a stored object that is exported. Also removes values that a client
   * may have sent if `admit` would add the same again.
   */
  forget?(object: KubeObject): void;
  /**
   * True when everything that `admit` adds has all its defaults. After other plugins the object is decoded again by the
   * schema of the stored version, as if a client had sent it, so that defaults are filled in.
   */
  readonly keepsDefaults?: boolean;
  /** May reject the object by throwing. Must not change it. */
  validate?(core: PluginPorts, request: AdmissionRequest): void | Promise<void>;
}
