/** Checks the labels that a node sets on itself, which must not include those that keep pods on trusted nodes. */
import { isNodeOwnLabel } from '../../../../../kinds/groups/core/node/own-labels.ts';
import { refused } from '../../../../objects/admission/refusal.ts';
import type { AdmissionRequest } from '../../../../objects/admission/request.ts';

export function checkLabels(request: AdmissionRequest, node: string): void {
  const after = request.object?.metadata.labels ?? {};
  const before = request.old?.metadata.labels ?? {};
  const changed = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  const refusedKeys = changed.filter((key) => after[key] !== before[key] && !isNodeOwnLabel(key)).sort();
  if (refusedKeys.length === 0) return;
  const keys = refusedKeys.join(', ');
  throw refused(
    request,
    request.old
      ? `is not allowed to modify labels: ${keys}`
      : `node "${node}" is not allowed to set the following labels: ${keys}`,
  );
}
