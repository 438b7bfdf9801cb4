/** Advice on a deletion that is under way, which no request takes back. */
import { isApiError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { ObjectApi, Selection } from '../object-api.ts';

interface Volume extends KubeObject {
  readonly spec?: {
    readonly persistentVolumeReclaimPolicy?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
  };
}

interface Commands {
  /** The command that undoes the deletion once it is over. */
  readonly undo: string;
  /** The flags of `kubectl` that name the cluster; empty, or beginning with a space. */
  readonly cluster: string;
}

/** Lines that say how to keep the data of the object, and how to create it again. */
export async function rescueOf(objects: ObjectApi, selection: Selection, commands: Commands): Promise<string[]> {
  const { found, name } = selection;
  const volumes = await volumesOf(objects, selection);
  const endangered = volumes.filter(({ spec }) => spec?.persistentVolumeReclaimPolicy !== 'Retain');
  const patch = ({ metadata }: Volume, spec: object) =>
    `  kubectl${commands.cluster} patch pv ${metadata.name} -p '${JSON.stringify({ spec })}'`;
  return [
    ...(endangered.length > 0 ? ['To keep its data, before it is gone:'] : []),
    ...endangered.map((each) => patch(each, { persistentVolumeReclaimPolicy: 'Retain' })),
    'To create it again, once it is gone:',
    // Volumes wait for the claim of the old uid otherwise.
    ...(found.label === VOLUME ? [] : volumes.map((each) => patch(each, { claimRef: null }))),
    `  ${commands.undo}`,
    ...(found.label === NAMESPACE
      ? [`  qd undo TYPE NAME -n ${name}${commands.cluster}   # for each object in it`]
      : []),
  ];
}

const VOLUME = 'persistentvolume';
const NAMESPACE = 'namespace';

/** The persistent volumes whose data go with the object. */
async function volumesOf(objects: ObjectApi, { found, namespace, name }: Selection): Promise<readonly Volume[]> {
  const belongs: Readonly<Record<string, (volume: Volume) => boolean>> = {
    [VOLUME]: ({ metadata }) => metadata.name === name,
    persistentvolumeclaim: ({ spec }) => spec?.claimRef?.namespace === namespace && spec?.claimRef?.name === name,
    [NAMESPACE]: ({ spec }) => spec?.claimRef?.namespace === name,
  };
  const isOfObject = belongs[found.label];
  if (!isOfObject) return [];
  try {
    const all = await objects.list({ found: await objects.find(VOLUME), namespace: undefined });
    return all.filter(isOfObject);
  } catch (error) {
    if (!isApiError(error, 'Forbidden')) throw error;
    return []; // The volumes are for an administrator to save.
  }
}
