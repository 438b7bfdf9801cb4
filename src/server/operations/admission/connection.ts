import type { KubeObject } from '../../../kinds/kind.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import type { Writer } from '../../objects/transaction/ports.ts';

type Ports = Pick<Writer, 'admission'>;

/** Admits a request that opens a stream, such as exec. Its options are the admitted object; nothing is stored. */
export async function admitConnection(core: Ports, request: ApiRequest): Promise<void> {
  const { call, subresource } = request;
  const body = subresource!.body;
  const options = { kind: body.kind, apiVersion: body.apiVersion, ...call.parameters };
  const admission = core.admission.open(request, {
    operation: 'CONNECT',
    name: call.name ?? '',
    object: options as unknown as KubeObject,
    old: undefined,
    dryRun: false,
    body,
  });
  if (!admission) return;
  try {
    await admission.admit();
    await admission.validate();
  } finally {
    admission.settle();
  }
}
