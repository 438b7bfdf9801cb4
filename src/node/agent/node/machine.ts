/** Facts about the machine that the agent runs on. */

export interface NodeAddress {
  readonly type: 'InternalIP' | 'Hostname';
  readonly address: string;
}

type Quantities = Readonly<Record<string, string>>;

export interface MachineDescription {
  readonly capacity: Quantities;
  readonly allocatable: Quantities;
  readonly nodeInfo: Readonly<Record<string, unknown>>;
}

/** A condition of the node besides `Ready`: `MemoryPressure`, `DiskPressure`, `PIDPressure`. */
export interface Pressure {
  readonly type: string;
  readonly isPressed: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface Machine {
  describe(): Promise<MachineDescription>;
  pressures(): readonly Pressure[];
}
