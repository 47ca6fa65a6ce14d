import { type Context, Hono } from 'hono';
import { mayOperate, visibleAccounts } from '../account-access.ts';
import { pauseAccount, resumeAccount } from '../account-pause.ts';
import type { AccountOverview } from '../account-view.ts';
import type { Account } from '../accounts.ts';
import { accountBody } from './account-body.ts';
import type { ApiEnv, ApiPorts } from './app.ts';
import { demandScope } from './caller.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { Problem } from './problem.ts';
import { readNoBody } from './read-no-body.ts';

/** Looking at the accounts that the caller may use or operate, and stopping and starting them. */
export function accountRoutes(ports: ApiPorts): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/', demandScope('read'), async (context) => {
    const accounts = visibleAccounts(context.get('owner'), ports.accounts);
    const overviews = await Promise.all(accounts.map(({ id }) => ports.view.overview(id)));
    const bodies = accounts.flatMap((account, index) => {
      const overview = overviews[index];
      return overview === undefined ? [] : [accountBody(account, overview)];
    });
    return context.json({ accounts: bodies });
  });

  const findAccount = (context: Context<ApiEnv>, id: string): Account => {
    const account = visibleAccounts(context.get('owner'), ports.accounts).find((visible) => visible.id === id);
    // Another owner's account is answered like one that does not exist.
    if (account === undefined) throw new Problem(404, 'no_such_account', 'There is no account with this id.', 'id');
    return account;
  };

  routes.get('/:id', demandScope('read'), async (context) => {
    const account = findAccount(context, context.req.param('id'));
    return context.json(accountBody(account, await ports.view.overview(account.id)));
  });

  const acts = actsOf(ports);
  for (const [name, act] of Object.entries(acts)) {
    routes.post(`/:id/${name}`, demandScope('admin'), async (context) => {
      const account = findAccount(context, context.req.param('id'));
      const owner = context.get('owner');
      if (!mayOperate(owner, account)) {
        throw new Problem(403, 'not_operator', 'This account is paused and resumed by others.', 'id');
      }
      readNoBody(await context.req.text());
      const overview = await act(account.id);
      ports.log.info('account_operated', { account: account.id, act: name, owner });
      return context.json(accountBody(account, overview));
    });
  }

  const actPaths = Object.keys(acts).map((name): [string, string] => [`/:id/${name}`, 'POST']);
  refuseOtherMethods(routes, { '/': 'GET', '/:id': 'GET', ...Object.fromEntries(actPaths) });

  return routes;
}

/** By their names in the path. */
function actsOf(ports: ApiPorts): Record<string, (id: string) => Promise<AccountOverview>> {
  return {
    pause: (id) => pauseAccount(ports, id, 'all'),
    drain: (id) => pauseAccount(ports, id, 'creates'),
    resume: (id) => resumeAccount(ports, id),
  };
}
