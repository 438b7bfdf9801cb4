import { Ingress } from '../../../../kinds/groups/networking/ingress.ts';
import { IngressClass } from '../../../../kinds/groups/networking/ingress-class.ts';
import { CLASS_ANNOTATION } from '../../../../kinds/groups/networking/ingress-host-times.ts';
import { markedDefault } from '../../../../kinds/marked-default.ts';
import { derivedFrom } from '../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../plugin.ts';

const DEFAULT_CLASS_ANNOTATIONS = ['ingressclass.kubernetes.io/is-default-class'];
const theDefault = derivedFrom(IngressClass, (classes) => markedDefault(classes, DEFAULT_CLASS_ANNOTATIONS));

/** Assigns the default IngressClass to an Ingress without a class. */
export const defaultIngressClass: AdmissionPlugin = {
  name: 'DefaultIngressClass',
  keepsDefaults: true,

  handles: (kind, operation, subresource) => kind === Ingress && operation === 'CREATE' && !subresource,

  admit(core, { object }) {
    const { spec, metadata } = object as Ingress;
    if (spec.ingressClassName !== undefined || metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
    const name = theDefault(core);
    if (name !== undefined) spec.ingressClassName = name;
  },
};
