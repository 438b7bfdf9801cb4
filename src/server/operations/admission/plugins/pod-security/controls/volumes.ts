import type { PodSpec } from '../../../../../../kinds/shapes/pod/pod-spec.ts';
import { baseline, type Control, distinct, plural, quoted, use } from '../control.ts';
import { hostPathVolumes } from './host.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];

const allowed: readonly (keyof Volume)[] = [
  ...(['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image'] as const),
  ...(['persistentVolumeClaim', 'projected', 'secret'] as const),
];

export const restrictedVolumes: Control = {
  ...baseline('restrictedVolumes', 'restricted volume types', ({ spec }) => {
    const wrong = (spec.volumes ?? []).filter((volume) => !allowed.some((source) => volume[source] !== undefined));
    if (wrong.length === 0) return undefined;
    const types = distinct(wrong.map(sourceOf));
    const names = quoted(wrong.map(({ name }) => name));
    const words = `${use(wrong.length)} ${plural(types.length, 'restricted volume type')} ${quoted(types)}`;
    return `${plural(wrong.length, 'volume')} ${names} ${words}`;
  }),
  level: 'restricted',
  replaces: hostPathVolumes.id,
};

function sourceOf(volume: Volume): string {
  const set = volume as Readonly<Record<string, unknown>>;
  return Object.keys(set).find((field) => field !== 'name' && set[field] !== undefined) ?? 'unknown';
}
