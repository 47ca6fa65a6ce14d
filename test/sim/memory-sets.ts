/** All that Redis holds for one account, under the names that lib/due-set/keys.ts gives the keys. */
export interface DueSetState {
  /** The due set. */
  scores: ReadonlyMap<string, number>;
  waiting: ReadonlyMap<string, number>;
  deadlines: ReadonlyMap<string, number>;
  owners: ReadonlyMap<string, string>;
  /** The account's fields as text, as in Redis; an empty one counts as absent. */
  account: ReadonlyMap<string, string>;
  busy: boolean;
}

/** What `load` takes to lose everything. */
export const emptySet: DueSetState = {
  scores: new Map(),
  waiting: new Map(),
  deadlines: new Map(),
  owners: new Map(),
  account: new Map(),
  busy: false,
};

export class MemorySets {
  scores = new Map<string, number>();
  waiting = new Map<string, number>();
  deadlines = new Map<string, number>();
  owners = new Map<string, string>();
  account = new Map<string, string>();
  busy = false;

  field(name: string): string {
    return this.account.get(name) ?? '';
  }

  setField(name: string, value: string): void {
    if (value !== this.field(name)) this.account.set(name, value);
  }

  /** A copy, which later changes leave alone. */
  save(): DueSetState {
    const { scores, waiting, deadlines, owners, account, busy } = this;
    return {
      scores: new Map(scores),
      waiting: new Map(waiting),
      deadlines: new Map(deadlines),
      owners: new Map(owners),
      account: new Map(account),
      busy,
    };
  }

  load(state: DueSetState): void {
    this.scores = new Map(state.scores);
    this.waiting = new Map(state.waiting);
    this.deadlines = new Map(state.deadlines);
    this.owners = new Map(state.owners);
    this.account = new Map(state.account);
    this.busy = state.busy;
  }
}
