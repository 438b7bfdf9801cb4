import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { visitContainers } from '../../../../../kinds/shapes/container/container-rules.ts';
import type { PodSpec } from '../../../../../kinds/shapes/pod/pod-spec.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { AdmissionPlugin } from '../../plugin.ts';

/** Sets the pull policy `Always`, so that no pod can run a private image only because the node has it. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  keepsDefaults: true,

  handles: (kind, operation, subresource) =>
    kind === Pod && (operation === 'CREATE' || operation === 'UPDATE') && !subresource,

  admit(_, request) {
    if (hasOnlyKnownImages(request)) return;
    const pod = request.object as Pod;
    const lists = (['containers', 'initContainers', 'ephemeralContainers'] as const).map((list) =>
      pulling(pod.spec, list),
    );
    const volumes = pod.spec.volumes?.map((volume) =>
      volume.image ? { ...volume, image: { ...volume.image, pullPolicy: 'Always' } } : volume,
    );
    pod.spec = Object.assign({ ...pod.spec }, ...lists, volumes && { volumes });
  },

  validate(_, request) {
    if (hasOnlyKnownImages(request)) return;
    const { spec } = request.object as Pod;
    const problems: string[] = [];
    const judge = (path: string, policy: string | undefined) => {
      if (policy === 'Always') return;
      problems.push(`spec.${path}: Unsupported value: ${JSON.stringify(policy ?? '')}: supported values: "Always"`);
    };
    visitContainers(spec, ({ imagePullPolicy }, path) => judge(`${path}.imagePullPolicy`, imagePullPolicy));
    spec.volumes?.forEach(({ image }, index) => {
      if (image) judge(`volumes[${index}].image.pullPolicy`, image.pullPolicy);
    });
    if (problems.length > 0) throw rejected(request, problems.join(', '));
  },
};

function pulling(spec: PodSpec, list: 'containers' | 'initContainers' | 'ephemeralContainers'): Partial<PodSpec> {
  const containers = spec[list];
  return containers ? { [list]: containers.map((each) => ({ ...each, imagePullPolicy: 'Always' })) } : {};
}

/** Reports whether an update adds no new image, in which case it is left alone. */
function hasOnlyKnownImages({ object, old }: AdmissionRequest): boolean {
  if (!old) return false;
  const known = imagesOf((old as Pod).spec);
  return [...imagesOf((object as Pod).spec)].every((image) => known.has(image));
}

function imagesOf(spec: PodSpec): Set<string> {
  const images = new Set<string>();
  visitContainers(spec, ({ image }) => images.add(image));
  return images;
}
