import { readAccounts } from '../../../lib/accounts.ts';
import { UsageError } from '../console/options.ts';
import type { Environment, GivenEndpoints } from './endpoints.ts';

/** The provider accounts of one local stack, as the functions are told of them. */
export interface LocalAccounts {
  /** What ACCOUNTS is. */
  setting: string;
  /** The API key of each account, by the variable that it is read from. */
  keys: Record<string, string>;
}

/** A simulator that is quicker than life has quicker minutes too, and a budget counts those of the clock: only the slots fit. */
const simulated = JSON.stringify([
  { id: 'sume', readsPerMinute: null, readsPerDay: null, createsPerMinute: null, createsPerDay: null },
]);

/**
 * What ACCOUNTS in the environment says, or else one account: with the slots of the simulator that is started here, with no limits
 * at one that was found on this machine, with Sume's own at Sume. A provider on this machine takes keys that are made here, one for
 * each account. Throws a UsageError that names the variable of a key that is missing.
 */
export function readLocalAccounts(
  environment: Environment,
  provider: GivenEndpoints['sume'],
  localKey: string,
): LocalAccounts {
  const usual = provider === undefined ? simulated : provider.onThisMachine ? '' : '[{"id":"sume"}]';
  const setting = environment.ACCOUNTS?.trim() || usual;
  const madeHere = provider === undefined || provider.onThisMachine;
  const keys: Record<string, string> = { SUME_API_KEY: provider?.apiKey ?? localKey };
  for (const { id, keyVariable } of readAccounts(setting)) {
    if (keyVariable in keys) continue;
    const given = environment[keyVariable]?.trim();
    if (!given && !madeHere)
      throw new UsageError(`${keyVariable} is missing: ACCOUNTS names it for the account ${id}.`);
    keys[keyVariable] = given || `${localKey}_${keyVariable.toLowerCase()}`;
  }
  return { setting, keys };
}
