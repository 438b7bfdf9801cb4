/**
 * The contract of admission plugins, which apply the policies of a cluster to well-formed writes. A plugin fills in values
 * that depend on the cluster (a service account, a priority) or rejects objects that it does not allow (more than a
 * quota). The kind's own defaults, rules and hooks are not part of admission.
 *
 * A transaction runs the plugins that handle its operation, in the order of names.ts, in every attempt:
 *
 * 1. `admit` of each plugin (mutating admission);
 * 2. the kind's hooks and validation, on the object as the plugins left it;
 * 3. `validate` of each plugin (validating admission), on the object to be stored;
 * 4. the commit, under the request's `conditions` and together with its `also`;
 * 5. the callbacks of `onSettled`, whatever the outcome, including errors and conflicts.
 *
 * A plugin may be synchronous or return a promise, which is awaited. A plugin that calls a webhook needs nothing special:
 * it replaces the object with the webhook's result (`replace`), is followed by defaulting, and may request a second round
 * of the others (`reinvoke`).
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
