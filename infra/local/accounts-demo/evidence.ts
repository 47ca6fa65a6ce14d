/*
 * What a run left behind: what was asked of the product, and what the provider saw. All times are Unix milliseconds of this
 * machine.
 */

/** A job that the product took in. */
export interface SentJob {
  clip: string;
  owner: string;
  acceptedAtMs: number;
  /** As the product says at the end. */
  completed: boolean;
}

/** A render at the provider. */
export interface SeenRender {
  clip: string;
  account: string;
  createdAtMs: number;
  completed: boolean;
  /** When the provider first told that it has ended; null while it has not. Until then its slot is taken. */
  endToldAtMs: number | null;
}

/** One second of an account's requests. */
export interface SeenSecond {
  atSecond: number;
  readsRefused: number;
  createsRefusedForRate: number;
  createsRefusedForRoom: number;
}

export interface SeenAccount {
  id: string;
  /** The most requests that came within any one minute, those refused among them. */
  perMinuteMost: { reads: number; creates: number };
  seconds: readonly SeenSecond[];
}

export interface Evidence {
  /** When the first job was sent. */
  startedAtMs: number;
  /** Of each account. */
  slots: number;
  /** The owner who comes first, with most of the jobs. */
  flooder: string;
  sent: readonly SentJob[];
  renders: readonly SeenRender[];
  accounts: readonly SeenAccount[];
}

/** A job with its render: how long it waited, and where. */
export interface Admission {
  owner: string;
  account: string;
  acceptedAtMs: number;
  createdAtMs: number;
  /** When its slot was free again, as far as anybody could know; infinite while it is not. */
  freeAtMs: number;
}

/** Every sent job that the provider has a render of, by the first one. */
export function admissionsIn({ sent, renders }: Evidence): Admission[] {
  const first = new Map<string, SeenRender>();
  for (const render of [...renders].sort((a, b) => b.createdAtMs - a.createdAtMs)) first.set(render.clip, render);
  return sent.flatMap(({ clip, owner, acceptedAtMs }) => {
    const render = first.get(clip);
    if (render === undefined) return [];
    const { account, createdAtMs, endToldAtMs } = render;
    // A drain that is awake may send a job before its sender has the answer.
    const waitsFromMs = Math.min(acceptedAtMs, createdAtMs);
    return [{ owner, account, acceptedAtMs: waitsFromMs, createdAtMs, freeAtMs: endToldAtMs ?? Infinity }];
  });
}
