import { secretParameter } from './config.ts';
import { ConfigError } from './errors.ts';
import { isObject } from './json.ts';

/** What a provider takes of one workspace; null where there is no limit, or none is known. */
export interface AccountLimits {
  /** Jobs at the provider at once, from the create to the end. */
  maxInFlight: number | null;
  readsPerMinute: number | null;
  readsPerDay: number | null;
  createsPerMinute: number | null;
  createsPerDay: number | null;
}

/** One workspace at a provider, reached by one API key. It has a due set, drains, slots and budgets of its own. */
export interface Account {
  /** Part of its Redis keys and of every job's record: never changed while it has jobs. */
  id: string;
  /** The environment variable that its API key is in; see `secretParameter`. */
  keyVariable: string;
  /** Who may use it; null: every owner. */
  owners: readonly string[] | null;
  /** Who may pause and resume it; null: those who may use it. */
  operators: readonly string[] | null;
  /** Its share of the jobs that name no account, beside the others': twice the weight takes twice the jobs. */
  weight: number;
  limits: AccountLimits;
}

/** Of a Sume workspace on the Pro plan: 4 jobs in work and 20 in line; reads and creates are counted for each key. */
const sumeLimits: AccountLimits = {
  maxInFlight: 24,
  readsPerMinute: 120,
  readsPerDay: 10_000,
  createsPerMinute: 10,
  createsPerDay: 300,
};
/** The set is looked through this far for the slots in use, by every tick. */
const maxInFlightMax = 3_000;
const limitNames = Object.keys(sumeLimits) as (keyof AccountLimits)[];
const fields = ['id', 'provider', 'secret', 'owners', 'operators', 'weight', ...limitNames];
const example = '[{"id":"studio","secret":"sume-api-key-studio","owners":["acme"]}]';

export const noLimits: AccountLimits = {
  maxInFlight: null,
  readsPerMinute: null,
  readsPerDay: null,
  createsPerMinute: null,
  createsPerDay: null,
};
/** The one account that there is when ACCOUNTS is not set: its limits are learnt from what the provider refuses. */
const onlyAccount: Account = {
  id: 'sume',
  keyVariable: 'SUME_API_KEY',
  owners: null,
  operators: null,
  weight: 1,
  limits: noLimits,
};

/** What ACCOUNTS says. Throws a ConfigError that names the entry and the field. */
export function readAccounts(text: string | undefined): Account[] {
  if (text === undefined || text.trim() === '') return [onlyAccount];
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw new ConfigError(`ACCOUNTS is not JSON; expected ${example}`);
  }
  if (!Array.isArray(entries) || entries.length === 0) {
    throw new ConfigError(`ACCOUNTS is not a list with at least one account; expected ${example}`);
  }
  const accounts = entries.map(readAccount);
  for (const [index, { id, keyVariable }] of accounts.entries()) {
    const first = accounts.findIndex((other) => other.id === id);
    if (first !== index)
      throw new ConfigError(`ACCOUNTS has two entries, ${first + 1} and ${index + 1}, with the id ${id}.`);
    // The provider counts by key: two accounts on one would each use up its limits.
    const twin = accounts.findIndex((other) => other.keyVariable === keyVariable);
    if (twin !== index)
      throw new ConfigError(
        `ACCOUNTS has two entries, ${twin + 1} and ${index + 1}, with one secret, ${secretParameter(keyVariable)}. ` +
          'Each needs a key of its own: give one another name, for example "secret":"sume-api-key-2".',
      );
  }
  return accounts;
}

type Demand = (holds: boolean, field: string, expected: string) => void;

function readAccount(entry: unknown, index: number): Account {
  const given = isObject(entry) ? entry : {};
  const name = typeof given.id === 'string' && given.id !== '' ? `${index + 1} (${given.id.slice(0, 40)})` : index + 1;
  const demand: Demand = (holds, field, expected) => {
    if (!holds) throw new ConfigError(`ACCOUNTS entry ${name}: ${field} must be ${expected}; expected ${example}`);
  };
  const { id, provider = 'sume', secret = 'sume-api-key', owners = null, operators = null, weight = 1 } = given;
  const unknown = Object.keys(given).find((field) => !fields.includes(field));
  demand(unknown === undefined, unknown?.slice(0, 40) ?? '', `left out: the fields are ${fields.join(', ')}`);
  demand(typeof id === 'string' && /^[a-z0-9][a-z0-9-]{0,30}$/.test(id), 'id', 'a name of a-z, 0-9 and -');
  demand(provider === 'sume', 'provider', '"sume"');
  const isSecret = typeof secret === 'string' && /^sume-api-key(-[a-z0-9-]{1,40})?$/.test(secret);
  demand(isSecret, 'secret', 'the name of a parameter that begins with sume-api-key');
  demand(isOwnerList(owners), 'owners', 'a list of owners, or left out for all of them');
  demand(isOwnerList(operators), 'operators', 'a list of owners, or left out for those who may use it');
  demand(typeof weight === 'number' && weight > 0 && weight <= 1_000, 'weight', 'a number above 0, up to 1,000');
  return {
    id: id as string,
    keyVariable: (secret as string).toUpperCase().replaceAll('-', '_'),
    owners: owners as string[] | null,
    operators: operators as string[] | null,
    weight: weight as number,
    limits: readLimits(given, demand),
  };
}

function readLimits(given: Record<string, unknown>, demand: Demand): AccountLimits {
  const limits = { ...sumeLimits };
  for (const name of limitNames) {
    const value = given[name] === undefined ? sumeLimits[name] : given[name];
    const max = name === 'maxInFlight' ? maxInFlightMax : 100_000_000;
    const isLimit = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max;
    demand(value === null || isLimit, name, `a whole number from 1 to ${max}, or null for no limit`);
    limits[name] = value as number | null;
  }
  return limits;
}

function isOwnerList(value: unknown): boolean {
  const isOwner = (owner: unknown) => typeof owner === 'string' && /^[\w.-]{1,64}$/.test(owner);
  return value === null || (Array.isArray(value) && value.length > 0 && value.every(isOwner));
}

/** Those of the accounts that the owner may use, in their order. */
export function accountsOf(owner: string, accounts: readonly Account[]): Account[] {
  return accounts.filter(({ owners }) => owners === null || owners.includes(owner));
}
