import { Ingress } from '../../kinds/networking/ingress.ts';
import { IngressClass } from '../../kinds/networking/ingress-class.ts';
import { defaultClass } from './default-class.ts';
import type { AdmissionPlugin } from './plugin.ts';

/** Where an Ingress could name its class before there was a field for it. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

const theDefault = defaultClass(IngressClass, ['ingressclass.kubernetes.io/is-default-class']);

/** An Ingress that names no class gets the cluster's default one. */
export const defaultIngressClass: AdmissionPlugin = {
  name: 'DefaultIngressClass',

  handles: (kind, operation, subresource) => kind === Ingress && operation === 'CREATE' && !subresource,

  admit(core, { object }) {
    const { spec, metadata } = object as Ingress;
    if (spec.ingressClassName !== undefined || metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
    const name = theDefault(core);
    if (name !== undefined) spec.ingressClassName = name;
  },
};
