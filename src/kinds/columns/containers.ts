import { type Column, text, wide } from './column.ts';
import { labelSelectorText } from './selector.ts';

/** Finds the pod template of an object. */
type TemplateOf = (object: any) => any;

const templateOf: TemplateOf = (object) => object.spec?.template;

function joined(template: any, field: 'name' | 'image'): string {
  const containers: readonly any[] = template?.spec?.containers ?? [];
  return containers.map((container) => container[field] ?? '').join(',');
}

/** The names and images of a template's containers. */
export function containerColumns(template: TemplateOf = templateOf): readonly Column[] {
  return [
    text('Containers', 'The containers of a pod.', (object) => joined(template(object), 'name')),
    text('Images', 'What the containers run.', (object) => joined(template(object), 'image')),
  ];
}

/** What every workload shows where there is room: containers, images, and how it finds its pods. */
export const workloadColumns: readonly Column[] = [
  ...containerColumns(),
  text('Selector', 'Which pods belong to it.', ({ spec }) => labelSelectorText(spec?.selector)),
].map(wide);
