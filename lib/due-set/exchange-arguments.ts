import type { AccountLimits } from '../accounts.ts';
import type { CallsLeft, ExchangeRequest, Newcomer, Settlement } from '../ports.ts';

interface Fixed {
  leaseMs: number;
  aheadMs: number;
  claimMax: number;
  /** Ms, or '' for Redis' own clock. */
  now: string;
  limits: AccountLimits;
  account: string;
}

/** The ARGV of exchange.lua, which says what each of them is. */
export function exchangeArguments(request: ExchangeRequest, fixed: Fixed): string[] {
  const { provider, extraCalls, told, creates } = request;
  return [
    String(fixed.leaseMs),
    String(fixed.aheadMs),
    String(fixed.claimMax),
    String(Math.max(0, Math.floor(request.windowMs))),
    request.role,
    String(request.inHand),
    fixed.now,
    provider?.kind ?? '',
    provider === undefined ? '' : String(Math.max(1, Math.round(provider.meanGapMs))),
    String(Math.ceil(provider?.waitMs ?? 0)),
    String(Math.max(0, request.admitMax ?? 0)),
    ...limitArguments(fixed.limits),
    String(extraCalls?.reads ?? 0),
    String(extraCalls?.creates ?? 0),
    ...callsLeft(told?.reads),
    ...callsLeft(told?.creates),
    creates?.kind ?? '',
    String(Math.ceil(creates?.waitMs ?? 0)),
    fixed.account,
    ...request.settlements.flatMap(triple),
  ];
}

function limitArguments(limits: AccountLimits): string[] {
  const { maxInFlight, readsPerMinute, readsPerDay, createsPerMinute, createsPerDay } = limits;
  const ordered = [maxInFlight, readsPerMinute, readsPerDay, createsPerMinute, createsPerDay];
  return ordered.map((limit) => (limit === null ? '' : String(limit)));
}

function callsLeft(told: CallsLeft | undefined): [string, string] {
  return told === undefined ? ['', ''] : [String(Math.max(0, told.left)), String(Math.max(0, Math.ceil(told.forMs)))];
}

function triple({ id, token, to }: Settlement): [string, string, string] {
  switch (to.kind) {
    case 'due':
      return [id, token, String(Math.ceil(to.atMs))];
    case 'renew':
      return [id, token, to.token];
    case 'wait':
      return [id, token, `wait ${to.rank}${newcomer(to.newcomer)}`];
    case 'remove':
      return [id, token, 'remove'];
  }
}

function newcomer(given: Newcomer | undefined): string {
  return given === undefined ? '' : ` ${given.deadlineAtMs} ${9 - given.priority} ${given.owner}`;
}
