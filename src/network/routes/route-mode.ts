/**
 * Transport of packets to other machines: over a shared link, wrapped in VXLAN, whichever of the two fits, or not at
 * all.
 */
export const ROUTE_MODES = ['auto', 'direct', 'vxlan', 'none'] as const;
export type RouteMode = (typeof ROUTE_MODES)[number];
