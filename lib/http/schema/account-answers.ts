import * as z from 'zod';
import { count, links, timeOrNull } from './answer-fields.ts';

/* Accounts and how they are doing, as the API shows them: what account-body.ts, stats.ts and health.ts make. */

const countOrNull = count.nullable();
const use = z.strictObject({ limit: countOrNull, used: count, left: countOrNull });

const budget = z
  .strictObject({
    per_minute: use,
    per_day: use.extend({ gone_at: timeOrNull }),
    provider_says: z.strictObject({ left: count, until: timeOrNull }).nullable(),
  })
  .meta({ id: 'Budget' });

export const accountAnswer = z
  .strictObject({
    id: z.string(),
    state: z.enum(['active', 'paused', 'draining', 'denied', 'failing', 'held']),
    since: timeOrNull,
    until: timeOrNull,
    creates_hold: z
      .strictObject({ reason: z.enum(['no_slot', 'denied', 'no_credit']), since: timeOrNull, until: timeOrNull })
      .nullable(),
    slots: z.strictObject({ max: countOrNull, effective: countOrNull, used: count, waiting: count }),
    reads: budget,
    creates: budget,
    links: links('self', 'list'),
  })
  .meta({ id: 'Account' });

export const accountListAnswer = z.strictObject({ accounts: z.array(accountAnswer) }).meta({ id: 'AccountList' });

const faultCode = z.enum(['denied', 'failing', 'held', 'no_credit']);

const costTotal = z
  .strictObject({
    day: z.string().meta({ format: 'date' }),
    account: z.string(),
    jobs: count,
    estimated_usd_micros: count,
    billed_usd_micros: count,
  })
  .meta({ id: 'CostTotal' });

const hookStats = z
  .strictObject({ arrived: count, missed: count, late: count, reads_slowed: z.boolean() })
  .meta({ id: 'HookStats' });

const watchedAccount = accountAnswer
  .extend({ due_lag_ms: z.number().min(0), hooks: hookStats.nullable() })
  .meta({ id: 'WatchedAccount' });

export const statsAnswer = z
  .strictObject({
    at: timeOrNull,
    accounts: z.array(watchedAccount),
    faults: z.array(z.strictObject({ account: z.string(), code: faultCode, since: timeOrNull })),
    costs: z.strictObject({ own: z.array(costTotal), accounts: z.array(costTotal) }).nullable(),
  })
  .meta({ id: 'Stats' });

export const healthAnswer = z
  .strictObject({
    status: z.enum(['up', 'degraded', 'down']),
    stage: z.string(),
    faults: z.array(
      z.strictObject({
        account: z.string().optional(),
        code: z.enum([...faultCode.options, 'not_drained', 'due_set_unreachable']),
      }),
    ),
  })
  .meta({ id: 'Health' });

export const hookAnswer = z.strictObject({ accepted: z.literal(true) }).meta({ id: 'HookAccepted' });
