/** A usual port that Ingresses are not served on, and what clients and users are told about it. */
export interface MovedPort {
  readonly usual: number;
  /** The port that is used in its place. */
  readonly used: number;
  readonly why: PortMove;
}

/** `kept`: clients know the other one from an earlier start. */
export type PortMove = 'forbidden' | 'in use' | 'kept';

const REASONS: Readonly<Record<PortMove, string>> = {
  forbidden: 'PortForbidden',
  'in use': 'PortInUse',
  kept: 'PortKept',
};

/** The reason of its event, and the error of the port in the status of Ingresses. */
export const moveReason = ({ why }: MovedPort): string => REASONS[why];

export function moveMessage({ usual, used, why }: MovedPort): string {
  const instead = `Ingresses are served on port ${used} instead`;
  switch (why) {
    case 'forbidden':
      return `This user may not listen on port ${usual} (net.ipv4.ip_unprivileged_port_start): ${instead}`;
    case 'in use':
      return `Something else listens on port ${usual}: ${instead}`;
    case 'kept':
      return `Port ${usual} could not be used at an earlier start: while pods run, Ingresses stay on port ${used}`;
  }
}
