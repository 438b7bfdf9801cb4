import type { LabelSelector } from '../shapes/meta/label-selector.ts';
import type { PodTemplateSpec } from '../shapes/pod/pod-template.ts';
import { type Column, type Sparse, text, wide } from './column.ts';
import { labelSelectorText } from './selector.ts';

/** An object that creates pods from a template. */
interface Workload {
  spec: { template: PodTemplateSpec; selector?: LabelSelector };
}

type Template = Sparse<PodTemplateSpec> | undefined;

function joined(template: Template, field: 'name' | 'image'): string {
  return (template?.spec?.containers ?? []).map((container) => container[field] ?? '').join(',');
}

/** The names and images of the containers of the pod template that `templateOf` finds in an object. */
export function containerColumnsOf<T>(templateOf: (object: Sparse<T>) => Template): readonly Column<T>[] {
  return [
    text('Containers', 'The containers of a pod.', (object) => joined(templateOf(object), 'name')),
    text('Images', 'What the containers run.', (object) => joined(templateOf(object), 'image')),
  ];
}

/** The names and images of the containers of `spec.template`. */
export const containerColumns = containerColumnsOf<Workload>(({ spec }) => spec?.template);

/** Columns that every workload shows in wide tables: containers, images, and the selector of its pods. */
export const workloadColumns: readonly Column<Workload>[] = [
  ...containerColumns,
  text<Workload>('Selector', 'Which pods belong to it.', ({ spec }) => labelSelectorText(spec?.selector)),
].map(wide);
