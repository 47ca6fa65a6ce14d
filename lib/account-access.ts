import { type Account, accountsOf } from './accounts.ts';

/* Who sees an account over the API, and who may stop and start it. Pure. */

/** Those that the owner may use, or is named an operator of, in their order. */
export function visibleAccounts(owner: string, accounts: readonly Account[]): Account[] {
  const usable = accountsOf(owner, accounts);
  return accounts.filter((account) => usable.includes(account) || account.operators?.includes(owner) === true);
}

/** Its operators, else those who may use it. */
export function mayOperate(owner: string, { operators, owners }: Account): boolean {
  const allowed = operators ?? owners;
  return allowed === null || allowed.includes(owner);
}
